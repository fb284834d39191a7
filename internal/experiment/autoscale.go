package experiment

// Autoscale has the number of replicas follow their CPU: a
// HorizontalPodAutoscaler (autoscaling/v2).
type Autoscale struct {
	Min int `json:"min"` // at least 1
	Max int `json:"max"` // above Min
	// CPUPercent is what replicas are to use on average, of the CPU that they
	// request.
	CPUPercent int `json:"cpu_percent"`
}

// MostReplicas is the largest number of replicas that the cell's service can have.
func (c *Cell) MostReplicas() int {
	if a := c.Service.Autoscale; a != nil {
		return a.Max
	}
	return c.Limits.Replicas
}
