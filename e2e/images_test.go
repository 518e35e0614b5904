// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAChangeOfTheProgramAloneIsBuiltAndDeployed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", "--sample", "hello-world", "--cluster", "embedded")
	s.await("hello-world is deployed", func(e event) bool {
		return e.is("deployment", "app", "hello-world", "status",
			"SUCCESS")
	})
	s.await("and so is the other", func(e event) bool {
		return e.is("deployment", "app", "hello-world-quick", "status",
			"SUCCESS")
	})

	e.edit("hello-world/main.go", "listening on", "at your service on", "Change the program only")
	changed := e.git("rev-parse", "HEAD")
	s.await("the pipeline runs", func(e event) bool {
		summary, _ := e["summary"].(string)
		return e.is("deployment", "app", "hello-world", "commit", changed, "strategy", "PIPELINE") &&
			strings.Contains(summary, "updating image hello-world from ")
	})
	s.await("the image is there before the canary", func(e event) bool {
		text, _ := e["text"].(string)
		return e.is("log") && strings.HasPrefix(text, "Loaded pipedeck.dev/hello-world:")
	})
	s.await("the canary waits for an approval", func(e event) bool {
		return e.is("stage", "name", "WAIT_APPROVAL",
			"status", "RUNNING")
	})
	require.Zero(t, e.pipedeck("approve").Code)
	s.await("it is deployed", func(e event) bool {
		return e.is("deployment", "app", "hello-world", "commit", changed, "status", "SUCCESS")
	})
	s.await("the application that shares the program, too", func(e event) bool {
		return e.is("deployment", "app", "hello-world-quick", "commit", changed, "status", "SUCCESS")
	})

	e.edit("hello-world/main.go", "func main() {\n", "func main() {\n\tundefinedThing()\n", "Make a mistake")
	broken := e.git("rev-parse", "HEAD")
	s.await("the log has the compiler's words", func(e event) bool {
		text, _ := e["text"].(string)
		return e.is("log", "severity", "ERROR") && strings.Contains(text,
			"hello-world/main.go:27:2: undefined: undefinedThing")
	})
	s.await("the deployment fails", func(e event) bool {
		return e.is("deployment", "app", "hello-world", "commit", broken, "status", "FAILURE")
	})
	require.Zero(t, e.pipedeck("down").Code)
	_, code := s.wait()
	require.Zero(t, code)
	e.leavesNothing()
}
