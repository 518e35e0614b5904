// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// migrator serves, or migrates: it notes that it has begun, and ends when the file GO is there.
const migrator = `package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) == 1 {
		fmt.Println(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
		return
	}
	runs, err := os.OpenFile(os.Getenv("RUNS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(runs, "began")
	fmt.Println("applying 0042_orders.sql")
	for {
		if _, err := os.Stat(os.Getenv("GO")); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println("orders has its column")
}
`

// migrated is an application with a migration before each rollout. runs has a line for each time that it began, and it
// ends when the file proceed is there.
func migrated(t *testing.T) (repo, runs, proceed string) {
	t.Helper()
	runs, proceed = filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "go")
	repo = repository(t, map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": migrator,
		"web/app.pipecd.yaml": application("web", ""), "web/deployment.yaml": deployment("web"),
		"web/migrate.yaml": `apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade"}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: pipedeck.dev/web:v1
          args: [migrate]
          env: [{name: RUNS, value: ` + runs + `}, {name: GO, value: ` + proceed + `}]
`,
	})
	return repo, runs, proceed
}

func logged(part string) func(event) bool {
	return func(e event) bool {
		text, _ := e["text"].(string)
		return e.is("log") && strings.Contains(text, part)
	}
}

func TestAMigrationRunsOnceAlthoughThePluginIsKilledAndItsFailureEndsTheNextDeployment(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo, runs, proceed := migrated(t)
	s := e.start("up", repo, "--cluster", "embedded")
	s.await("the migration's output is in the log while it runs", logged(" | applying 0042_orders.sql"))
	require.NoError(t, syscall.Kill(e.pluginPID("kubernetes"), syscall.SIGKILL))
	s.await("the next attempt waits for it", logged("an earlier attempt in this deployment has begun it"))
	require.NoError(t, os.WriteFile(proceed, nil, 0o600))
	s.await("the rest of its output", logged(" | orders has its column"))
	s.await("it is deployed", func(e event) bool { return e.is("deployment", "app", "web", "status", "SUCCESS") })
	began, err := os.ReadFile(runs)
	require.NoError(t, err)
	require.Equal(t, "began\n", string(began), "it ran once")

	broken := replaceAndCommit(t, repo, `fmt.Println("orders has its column")`,
		`fmt.Println("relation orders does not exist"); os.Exit(3)`, "web/main.go")
	s.await("its last words are in the log", func(e event) bool {
		text, _ := e["text"].(string)
		return e.is("log", "severity", "ERROR") && strings.Contains(text, "so nothing was rolled out: Job") &&
			strings.Contains(text, "exit code 3") && strings.Contains(text, "relation orders does not exist")
	})
	s.await("the deployment fails", func(e event) bool {
		return e.is("deployment", "app", "web", "commit", broken, "status", "FAILURE")
	})
	s.interrupt()
	events, _ := s.wait()
	for _, e := range events {
		require.False(t, logged("Deployment default/web: changed")(e), "no pod was changed: %v", e)
	}
}
