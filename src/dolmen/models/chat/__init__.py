"""What answers questions with JSON: the contract, and any endpoint that speaks it."""

from dolmen.models.chat.contract import Chat, ChatUnavailable, Question, Unanswered
from dolmen.models.chat.http import ChatEndpoint, HttpChat

__all__ = ["Chat", "ChatEndpoint", "ChatUnavailable", "HttpChat", "Question", "Unanswered"]
