"""What runs beside the agent: it reads the working directory and knows neither store nor models."""
