"""An application for the matrix of advice, for WSGI (app) and ASGI (asgi): /cpu
computes, /wait computes little and waits."""
import asyncio
import hashlib
import time


def work(rounds):
    block = bytes(4096)
    for _ in range(rounds):
        block = hashlib.sha1(block).digest() + block[20:]
    return block[:20].hex().encode()


def app(environ, start_response):
    waits = environ["PATH_INFO"] == "/wait"
    if waits:
        time.sleep(0.02)
    body = work(30 if waits else 300)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    waits = scope["path"] == "/wait"
    if waits:
        await asyncio.sleep(0.02)
    body = work(30 if waits else 300)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})
