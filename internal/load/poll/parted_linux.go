package poll

import (
	"time"

	"golang.org/x/sys/unix"
)

// parted is a connection that the other side is expected to close. The side that
// closes first keeps the port in TIME_WAIT for a minute, and a client has only about
// 28,000 ports for each service.
type parted struct {
	fd    int32
	until time.Duration
}

// mostParted is the maximum number of parted connections that a poller waits for.
const mostParted = 128

// A service that announced the end of a connection usually closes it within
// microseconds of its answer. The poller waits for at most this time, and for at most
// mostParted connections.
const partWithin = 100 * time.Millisecond

func (p *Poller) Part(slot int32) {
	fd := p.fds[slot]
	event := unix.EpollEvent{Events: unix.EPOLLRDHUP, Fd: partSlot, Pad: fd}
	if unix.EpollCtl(p.epoll, unix.EPOLL_CTL_MOD, int(fd), &event) != nil {
		p.Close(slot, false)
		return
	}
	p.fds[slot] = -1
	for int(fd) >= len(p.untils) {
		p.untils = append(p.untils, 0)
	}
	until := p.Now() + partWithin
	p.untils[fd] = until
	p.parted = append(p.parted, parted{fd, until})
	for p.parting++; p.parting > mostParted; {
		p.giveUp(p.parted[0].until)
	}
}

// giveUp closes the parted connections whose deadline has passed.
func (p *Poller) giveUp(until time.Duration) {
	for len(p.parted) > 0 && p.parted[0].until <= until {
		one := p.parted[0]
		if p.parted = p.parted[1:]; p.untils[one.fd] == one.until {
			p.end(one.fd)
		}
	}
}

// end closes a parted connection, whether or not the other side has closed it.
func (p *Poller) end(fd int32) {
	if p.untils[fd] != 0 { // 0: giveUp closed it after the event
		p.untils[fd] = 0
		p.parting--
		_ = unix.Close(int(fd))
	}
}
