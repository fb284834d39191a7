package reflection

import (
	"context"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/millicore/millicore/internal/load/wire"
)

// HealthPath is the path of the method that answers how a service is.
const HealthPath = "/grpc.health.v1.Health/Check"

// health has the names of the answers, by number
// (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
var health = [...]string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}

// Serving asks for the health of a service, such as pkg.Service, or of the whole server (""). The
// error of one that does not serve says what it answers.
func (c *Client) Serving(ctx context.Context, service string) error {
	body := make([]byte, 5)
	if service != "" {
		body = protowire.AppendString(protowire.AppendTag(body, 1, protowire.BytesType), service)
	}
	binary.BigEndian.PutUint32(body[1:], uint32(len(body)-5))
	data, err := c.Call(ctx, HealthPath, body, &wire.Call{Single: true, Largest: 1 << 10})
	if err != nil {
		return fmt.Errorf("%s: %w", HealthPath, err)
	}
	status := uint64(0)
	if number, _, n := protowire.ConsumeTag(data[5:]); number == 1 {
		status, _ = protowire.ConsumeVarint(data[5+n:])
	}
	if status == 1 {
		return nil
	}
	return fmt.Errorf("%s answers %s", HealthPath, health[min(status, 3)])
}
