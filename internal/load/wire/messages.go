package wire

import "github.com/millicore/millicore/internal/data/signals"

// Call is what the answer to a gRPC call may have.
type Call struct {
	Single  bool  // one message, if the call succeeds: it is not a stream
	Gzip    bool  // messages may be compressed
	Largest int64 // maximum size of a message in bytes; 0: any
}

// Messages counts the messages of an answer, each of which has a prefix: whether it is
// compressed, and its length (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
type Messages struct {
	whole  int // that have come
	prefix [5]byte
	have   int   // bytes of the prefix
	left   int64 // bytes of the message to come
	fault  int   // a status; 0: none
}

// Read takes the next bytes of the body.
func (m *Messages) Read(p []byte, call *Call) {
	for len(p) > 0 {
		if m.have < len(m.prefix) {
			n := copy(m.prefix[m.have:], p)
			p = p[n:]
			if m.have += n; m.have < len(m.prefix) {
				return
			}
			m.left = int64(m.prefix[1])<<24 | int64(m.prefix[2])<<16 | int64(m.prefix[3])<<8 | int64(m.prefix[4])
			switch flag := m.prefix[0]; {
			case m.fault != 0:
			case flag > 1, flag == 1 && !call.Gzip:
				m.fault = signals.MessageCompressed
			case call.Largest > 0 && m.left > call.Largest:
				m.fault = signals.MessageTooLarge
			}
		}
		n := min(m.left, int64(len(p)))
		p = p[n:]
		if m.left -= n; m.left == 0 {
			m.have = 0
			m.whole++
		}
	}
}

// Wrong is the status of a call that ended with OK, and with these messages; 0 if they are
// what they should be.
func (m *Messages) Wrong(call *Call) int {
	switch {
	case m.fault != 0:
		return m.fault
	case m.have > 0:
		return signals.MessageCut
	case call.Single && m.whole == 0:
		return signals.NoMessage
	case call.Single && m.whole > 1:
		return signals.ManyMessages
	}
	return 0
}
