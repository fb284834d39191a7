package captured

import "github.com/millicore/millicore/internal/data/openapi"

// openapi reads a description of a service: one request of each operation.
func (c *collector) openapi(data []byte, how openapi.How) error {
	return openapi.Read(data, how, func(o *openapi.Operation) bool {
		if c.in.Keys = o.Keys; o.Skipped != "" {
			c.skip(o.Skipped)
			return true
		}
		e := &entry{method: o.Method, url: o.URL, body: o.Body, name: o.Name, needs: o.Needs, madeUp: o.MadeUp}
		for _, h := range o.Headers {
			e.headers = append(e.headers, header{h[0], h[1]})
		}
		c.add(e)
		return c.bodies <= MostBodies
	})
}
