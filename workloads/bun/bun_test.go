// Package bun_test checks the sample service on Bun.
package bun_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/workloads/contract"
	"github.com/millicore/millicore/workloads/contract/databases"
	"github.com/millicore/millicore/workloads/javascript/servicetest"
)

// frameworks are the values of FRAMEWORK.
var frameworks = []string{"serve", "hono"}

// service is the service on npm's Bun.
func service(t *testing.T) servicetest.Runtime {
	t.Helper()
	servicetest.NeedModules(t)
	return servicetest.Runtime{
		Name:    "millicore-bun",
		Command: []string{filepath.Join("..", "node_modules", ".bin", "bun"), "--no-install", "--no-env-file", "main.js"},
		Version: regexp.MustCompile(`^bun \d+\.\d+\.\d+$`),
	}
}

// The tests start processes of their own and wait for them, so they run beside one another.

func TestContract(t *testing.T) {
	t.Parallel()
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			contract.Run(t, service(t).Start(t, "FRAMEWORK="+framework).URL)
		})
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) { contract.RunIdle(t, service(t).Start(t, "FRAMEWORK="+framework).Process.Pid) })
	}
}

func TestContractOfAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			contract.Run(t, service(t).Start(t, "WORKERS="+strconv.Itoa(n)).URL, contract.Workers(n))
		})
	}
}

func TestContractWithPostgres(t *testing.T) {
	t.Parallel()
	service(t).CheckStore(t, databases.Postgres)
}

func TestContractWithMongoDB(t *testing.T) {
	t.Parallel()
	service(t).CheckStore(t, databases.MongoDB)
}

func TestStatementsToPostgres(t *testing.T) {
	t.Parallel()
	service(t).CheckStatements(t, databases.Postgres)
}

func TestStatementsToMongoDB(t *testing.T) {
	t.Parallel()
	service(t).CheckStatements(t, databases.MongoDB)
}

func TestConnectionsAreAsManyAsAsked(t *testing.T) {
	t.Parallel()
	service(t).CheckConnections(t)
}

func TestProcess(t *testing.T) {
	t.Parallel()
	service(t).Check(t)
}

func TestProcessOnHono(t *testing.T) {
	t.Parallel()
	service(t).CheckSignals(t, "FRAMEWORK=hono")
}

func TestThereIsNoCluster(t *testing.T) {
	t.Parallel()
	end := service(t).Run(t, nil, []string{"CLUSTER=2"})
	if end.Code != 2 || !strings.Contains(end.Stderr, "CLUSTER") {
		t.Errorf("%+v; want exit code 2, as Bun has no cluster", end)
	}
}
