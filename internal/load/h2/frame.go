package h2

import "encoding/binary"

// Frame types (RFC 9113, 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	framePriority     = 0x2
	frameReset        = 0x3
	frameSettings     = 0x4
	framePushPromise  = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9
)

// Flags of frames.
const (
	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

// Settings (RFC 9113, 6.5.2).
const (
	settingTableSize     = 0x1
	settingPush          = 0x2
	settingStreams       = 0x3
	settingWindow        = 0x4
	settingFrameSize     = 0x5
	settingHeaderList    = 0x6
	frameHead            = 9
	smallestMaxFrameSize = 1 << 14
	largestMaxFrameSize  = 1<<24 - 1
	firstWindow          = 1<<16 - 1 // of a connection, and of a stream before SETTINGS
	largestWindow        = 1<<31 - 1
)

// Error codes that a client sends (RFC 9113, 7).
const (
	codeNone        = 0x0
	codeProtocol    = 0x1
	codeFlowControl = 0x3
	codeFrameSize   = 0x6
	codeRefused     = 0x7
	codeCancel      = 0x8
	codeCompression = 0x9
	codeCalm        = 0xb // ENHANCE_YOUR_CALM
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// appendHead appends the head of a frame with a payload of a length.
func appendHead(b []byte, length int, kind, flags byte, stream uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), kind, flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

// appendWord appends a frame whose payload is one number of 32 bits.
func appendWord(b []byte, kind byte, stream, value uint32) []byte {
	return binary.BigEndian.AppendUint32(appendHead(b, 4, kind, 0, stream), value)
}

// appendSetting appends one setting of a SETTINGS frame.
func appendSetting(b []byte, id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, id), value)
}

// appendHeaders appends a header block as HEADERS, and as CONTINUATION frames what does
// not fit into one frame.
func appendHeaders(b []byte, block []byte, stream uint32, last bool, most int) []byte {
	kind, flags := byte(frameHeaders), byte(0)
	if last {
		flags = flagEndStream
	}
	for {
		part := block[:min(len(block), most)]
		if block = block[len(part):]; len(block) == 0 {
			flags |= flagEndHeaders
		}
		b = append(appendHead(b, len(part), kind, flags, stream), part...)
		if len(block) == 0 {
			return b
		}
		kind, flags = frameContinuation, 0
	}
}
