// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAutoUsesTheEmbeddedKubernetesWithoutAWorkingEngine puts a command named docker before the real
// one, if there is any.
func TestAutoUsesTheEmbeddedKubernetesWithoutAWorkingEngine(t *testing.T) {
	for name, c := range map[string]struct{ docker, says string }{
		"it hangs": {"exec sleep 600",
			"(auto chose embedded: no kind: docker is installed and does not answer: no answer within"},
		"it is stopped": {
			`echo '{"ServerErrors":["Cannot connect to the Docker daemon"]}'; exit 1`,
			"(auto chose embedded: no kind: docker is installed and does not answer: Cannot connect to the Docker " +
				"daemon)",
		},
		"it answers and makes nothing": {
			`[ "$1" = info ] || { echo "broken engine" >&2; exit 1; }; ` +
				`echo '{"ServerVersion":"28.2.2","CgroupVersion":"2"}'`,
			"(auto chose embedded: kind failed: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\n"+c.docker+"\n"), 0o700))
			e := newEnvironment(t)
			e.Variables = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "KIND_EXPERIMENTAL_PROVIDER=docker"}
			s := e.start("up", "--sample", "hello-world", "--cluster", "auto", "--keep=false")
			chosen := s.await("a cluster is ready", func(e event) bool {
				return e.is("component", "name", "kubernetes",
					"state", "READY")
			})
			require.Contains(t, chosen["detail"], c.says)
			s.interrupt()
			_, code := s.wait()
			require.Equal(t, 130, code)
			require.NoDirExists(t, e.StateDir)
			require.False(t, strings.Contains(s.stderr.String(), "next step"), s.stderr.String())
		})
	}
}
