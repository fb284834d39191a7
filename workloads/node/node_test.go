// Package node_test checks the sample service on Node.js.
package node_test

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/millicore/millicore/workloads/contract"
	"github.com/millicore/millicore/workloads/contract/databases"
	"github.com/millicore/millicore/workloads/javascript/servicetest"
)

// frameworks are the values of FRAMEWORK.
var frameworks = []string{"http", "fastify"}

// service is the service on the machine's Node.js.
func service(t *testing.T) servicetest.Runtime {
	t.Helper()
	servicetest.NeedModules(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err) // npm, which installed the modules, needs it
	}
	return servicetest.Runtime{
		Name:    "millicore-node",
		Command: []string{node, "main.js"},
		Version: regexp.MustCompile(`^node v\d+\.\d+\.\d+$`),
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

func TestIdleOfACluster(t *testing.T) {
	t.Parallel()
	contract.RunIdle(t, service(t).Start(t, "CLUSTER=2").Process.Pid)
}

func TestContractOfACluster(t *testing.T) {
	t.Parallel()
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			contract.Run(t, service(t).Start(t, "CLUSTER=2", "FRAMEWORK="+framework).URL, contract.Clustered())
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

func TestProcessOnFastify(t *testing.T) {
	t.Parallel()
	service(t).CheckSignals(t, "FRAMEWORK=fastify")
}

func TestProcessOfACluster(t *testing.T) {
	t.Parallel()
	service(t).CheckCluster(t)
}
