package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Version is the version of an API server.
type Version struct {
	Name  string // as people write it: "v1.34.2+k3s1"
	Minor int    // 34; 0: not known
}

// Version asks the API server for its version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	answer, err := c.Raw(ctx, "/version", nil)
	if err != nil {
		return Version{}, err
	}
	defer answer.Body.Close()
	var said struct {
		Major      string `json:"major"`
		Minor      string `json:"minor"`
		GitVersion string `json:"gitVersion"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(&said); err != nil {
		return Version{}, fmt.Errorf("the answer of the cluster is not that of Kubernetes: %w", err)
	}
	v := Version{Name: said.GitVersion}
	if minor, err := strconv.Atoi(strings.TrimSuffix(said.Minor, "+")); err == nil && said.Major == "1" { // some clouds write "33+"
		v.Minor = minor
	}
	return v, nil
}
