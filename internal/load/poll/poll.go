// Package poll makes connections, and waits for them: the port.Poller of event loops, by
// epoll, with the kernel's time stamps of what was received. Only Linux has it.
package poll
