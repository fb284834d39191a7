package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// postgres is PostgreSQL's frontend/backend protocol 3.0: a byte for the type, then the
// length of the rest, itself included, as a big-endian int32. The first message of a
// client has no type. https://www.postgresql.org/docs/current/protocol-message-formats.html
var postgres = protocol{
	client: func(r *bufio.Reader) ([]byte, event, error) {
		message, err := read(r, 1, binary.BigEndian)
		if err != nil {
			return nil, other, err
		}
		switch message[0] {
		case 'E': // Execute
			return message, insert, nil
		case 'Q': // Query, which the services use for no insert
			return message, statement, nil
		}
		return message, other, nil
	},
	server: func(r *bufio.Reader) ([]byte, event, error) {
		message, err := read(r, 1, binary.BigEndian)
		if err != nil {
			return nil, other, err
		}
		switch message[0] {
		case 'C', 'I', 's', 'E': // CommandComplete, EmptyQueryResponse, PortalSuspended, ErrorResponse
			return message, answer, nil
		}
		return message, other, nil
	},
	greeting: func(r *bufio.Reader) ([]byte, error) { return read(r, 0, binary.BigEndian) },
}

// mongoDB is MongoDB's wire protocol: a header of four little-endian int32, of which the
// first is the length of the whole message and the last the kind. In an OP_MSG flags, the
// kind of the first section (0) and the length of its document follow, then the
// document, whose first element is a string by the name of the command.
// https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
var mongoDB = protocol{
	client: func(r *bufio.Reader) ([]byte, event, error) {
		message, err := read(r, 0, binary.LittleEndian)
		if err != nil {
			return nil, other, err
		}
		const opMsg, element = 2013, 16 + 4 + 1 + 4
		if len(message) > element && binary.LittleEndian.Uint32(message[12:]) == opMsg &&
			bytes.HasPrefix(message[element:], []byte("\x02insert\x00")) {
			return message, insert, nil
		}
		return message, statement, nil
	},
	server: func(r *bufio.Reader) ([]byte, event, error) {
		message, err := read(r, 0, binary.LittleEndian)
		return message, answer, err
	},
}

// read reads a message whose length stands behind so many bytes and does not count them.
func read(r *bufio.Reader, before int, order binary.ByteOrder) ([]byte, error) {
	head := make([]byte, before+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	length := order.Uint32(head[before:])
	const most = 64 << 20
	if length < 4 || length > most {
		return nil, fmt.Errorf("a message of %d bytes", length)
	}
	message := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(r, message[before+4:])
	return message, err
}
