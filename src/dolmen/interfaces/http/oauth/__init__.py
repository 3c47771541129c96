"""Signing in for hosted clients: the authorization server's own endpoints."""
