package engine

import (
	"slices"
	"time"
)

// site is one target's connections, and the requests that wait for a new connection.
type site struct {
	ready    list          // connections without a request, the last used at the tail
	cold     list          // slots without a connection
	dialing  int           // connections being made that no request is bound to
	due      ring[pending] // requests that wait for one of those; at most as many
	spared   time.Duration // when one of those last lost its request to another connection
	answered time.Duration // when the last answer came on a connection that was used before
	slow     time.Duration // when the last of these came that was not prompt
}

// pending is a request that waits for a new connection.
type pending struct {
	intended time.Duration
	lag      time.Duration // the loop's own delay before it started the connection
	begun    time.Duration // when it started the connection
}

func newSite() site { return site{ready: newList(), cold: newList()} }

func (s *site) stands() bool { return s.ready.n > 0 }
func (s *site) vacant() bool { return s.cold.n > 0 }
func (s *site) spares() bool { return s.dialing > s.due.len() }
func (s *site) roomy() bool  { return s.stands() || s.spares() || s.vacant() }

// dialsATurn is how many connections a loop starts before it polls again. To start one
// takes about 20 us. If many requests are due at once, the first connections serve
// several of them, so fewer are needed.
const dialsATurn = 8

// dispatch assigns waiting requests to connections, in order, and to the targets in
// turn.
func (l *loop) dispatch() {
	if l.promised {
		l.keepPromises()
	}
	for l.wait.len() > 0 {
		if l.stale {
			l.tick() // this may drop the waiting requests
			continue
		}
		if !l.assign() {
			return
		}
	}
}

// assign assigns the first waiting request to a target. It reports whether a target
// had room for it.
//
// In an open loop the request goes to the most recently used connection, so that
// connections that are not needed stay idle. If none is ready, a new one is made, and
// the request goes to the first connection that becomes ready. In a closed loop each
// user has its own connection, made for its first request.
func (l *loop) assign() bool {
	turn, stands := l.room()
	if turn < 0 {
		return false
	}
	site := &l.sites[l.present[turn]]
	open := l.plan.Load.Open
	dials := !stands && !(open && site.spares())
	switch {
	case dials && (l.unread || l.portless()): // an answer may free a connection
		return false
	case dials && l.dials >= dialsATurn:
		l.held = true
		return false
	}
	if l.whose = turn + 1; l.whose == len(l.present) {
		l.whose = 0
	}
	intended := l.wait.pop()
	switch {
	case stands && open:
		l.give(site.ready.tail, intended)
	case stands:
		l.give(site.ready.head, intended)
	case !open:
		i := site.cold.head
		s := &l.slots[i]
		s.intended = intended
		l.mix.choose(s, &l.targets[s.target], l.now)
		l.bind(s, l.lag(intended, s.freed))
		l.dial(i)
	default:
		i, freed := site.cold.head, site.spared
		if dials {
			freed = l.slots[i].freed
		}
		site.due.push(pending{intended, l.lag(intended, freed), l.now})
		l.bound++
		if dials {
			l.dial(i)
		}
	}
	return true
}

// room finds the target of the next request: an index into present, or -1 if none has
// room. It also reports whether a ready connection takes the request.
func (l *loop) room() (turn int, stands bool) {
	if l.plan.Load.Open {
		turn = l.turnTo((*site).roomy)
		return turn, turn >= 0 && l.sites[l.present[turn]].stands()
	}
	if len(l.slots)-l.colds >= l.active || l.portless() { // each user has a connection, or gets none
		if turn = l.turnTo((*site).stands); turn >= 0 {
			return turn, true
		}
	}
	if turn = l.turnTo((*site).vacant); turn >= 0 {
		return turn, false
	}
	return l.turnTo((*site).stands), true
}

// turnTo is the next target in turn for which has returns true.
func (l *loop) turnTo(has func(*site) bool) int {
	for turn := l.whose; turn < len(l.present); turn++ {
		if has(&l.sites[l.present[turn]]) {
			return turn
		}
	}
	for turn := range l.whose {
		if has(&l.sites[l.present[turn]]) {
			return turn
		}
	}
	return -1
}

// give sends a request, which waited only for a free connection, on a ready one.
func (l *loop) give(i int32, intended time.Duration) {
	s := l.pick(i)
	s.intended, s.fresh = intended, false
	l.mix.choose(s, &l.targets[s.target], l.now)
	l.send(i, l.lag(intended, s.freed))
}

// keepPromises assigns connections that became ready to requests that wait for a new
// connection.
func (l *loop) keepPromises() {
	l.promised = false
	for t := 0; t < len(l.sites); {
		switch site := &l.sites[t]; {
		case site.due.len() == 0 || !site.stands():
			t++
		case l.stale:
			l.tick()
		default:
			r := site.due.pop()
			l.bound--
			site.spared = l.now
			i := site.ready.tail
			s := l.pick(i)
			s.intended, s.fresh = r.intended, false
			l.mix.choose(s, &l.targets[s.target], l.now)
			lag := l.lag(r.intended, s.freed)
			if s.freed >= r.begun {
				lag = r.lag + l.now - s.freed
			}
			l.send(i, lag)
		}
	}
}

// send sends a request on a ready connection; lag is its send lag. The sent time is
// taken before the first write, because on one machine the write already executes a
// part of the service's side; with TLS after the encryption. l.now must be up to date.
func (l *loop) send(i int32, lag time.Duration) {
	s := &l.slots[i]
	sent := l.now
	l.away = 0
	for s.written = 0; l.write(i) == broken && s.written == 0 && !s.fresh; s.written = 0 {
		// The connection ended while it was idle and the request was not sent, so
		// this says nothing about the service: use another connection.
		l.shut(i, abrupt)
		site := &l.sites[s.target]
		if !site.stands() {
			l.bind(s, lag)
			l.dial(i)
			return
		}
		i = site.ready.tail
		next := l.pick(i)
		next.take(s)
		s = next
		l.tick()
		sent = l.now
	}
	sent = max(sent, l.away)
	s.state, s.sent, s.lag = inFlight, sent, lag
	s.answer.Begin(s.head, l.mix.check(s).Needle())
	s.answer.Calls(s.call)
	s.messages = 0
	if len(s.request) >= longMessage || s.written < len(s.request) {
		l.watch()
	}
	l.join(&l.inFlight, i)
	if s.intended >= l.counted && !s.resent {
		l.tally.Sent++
		l.tally.Left(l.mix.kinds[s.kind].Name)
		l.tally.SendLag.Record(lag)
	}
}

// take takes over another slot's request.
func (s *slot) take(from *slot) {
	s.intended, s.kind, s.head, s.call, s.closes, s.fresh = from.intended, from.kind, from.head, from.call, from.closes, false
	s.repeats, s.resent, s.moves = from.repeats, from.resent, from.moves
	s.request = from.request
	s.session, from.session = from.session, nil
	s.own, from.own = from.own, s.own
}

// move replaces the targets. Connections that now belong to another target are closed;
// those with a request in flight are closed after its answer. Requests that wait for a
// new connection are assigned again, except those that are sent again: they were cut off.
func (l *loop) move(targets []Target, at time.Duration) {
	l.targets, l.present = targets, present(targets)
	for len(l.sites) < len(targets) {
		l.sites = append(l.sites, newSite())
	}
	l.poller.Move(targets)
	l.whose, l.moved = l.whose%len(l.present), l.now
	var again []time.Duration
	var colds []int32
	for t := range l.sites {
		site := &l.sites[t]
		for site.due.len() > 0 {
			again = append(again, site.due.pop().intended)
		}
		for i := site.cold.head; i >= 0; i = l.slots[i].next {
			colds = append(colds, i)
		}
		site.cold = newList()
	}
	l.free -= len(colds)
	l.colds -= len(colds)
	for _, i := range colds {
		l.rest(i)
	}
	for t := range l.sites {
		for i, next := l.sites[t].ready.head, int32(0); i >= 0; i = next {
			if next = l.slots[i].next; int32(t) != l.targetOf(i) {
				l.pick(i)
				l.shut(i, orderly)
			}
		}
	}
	for i, next := l.dialing.head, int32(0); i >= 0; i = next {
		s := &l.slots[i]
		if next = s.next; s.target == l.targetOf(i) {
			continue
		}
		switch {
		case s.bound && s.resent: // it was sent to a target that has gone
			s.bound = false
			l.bound--
			l.count(s, cut, l.now)
			l.goOn(at, s.think)
		case s.bound:
			again = append(again, s.intended)
			s.bound = false
			l.mix.giveBack(s, l.now)
		default:
			l.sites[s.target].dialing--
		}
		l.part(&l.dialing, i)
		l.shut(i, orderly)
	}
	l.bound -= len(again)
	slices.Sort(again)
	for _, intended := range slices.Backward(again) {
		l.wait.unshift(intended)
	}
}
