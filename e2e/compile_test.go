// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// onlyPipedeck is an environment whose programs are not compiled, but for pipedeck.
func onlyPipedeck(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t)
	content, err := os.ReadFile(filepath.Join(e.Bin, "pipedeck"))
	require.NoError(t, err)
	e.Environment = drive.Environment{Bin: t.TempDir(), StateDir: e.StateDir, Name: e.Name}
	require.NoError(t, os.WriteFile(filepath.Join(e.Bin, "pipedeck"), content, 0o700))
	return e
}

func TestTheEnvironmentStartsBeforeItsProgramsAreCompiled(t *testing.T) {
	t.Parallel()
	e := onlyPipedeck(t)
	checkout, err := filepath.Abs("..")
	require.NoError(t, err)
	repo := repository(t, map[string]string{"web/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\n" +
		"kind: Application\nspec:\n  name: web\n  planner:\n    alwaysUsePipeline: true\n  plugins:\n    wait: {}\n" +
		"  pipeline:\n    stages:\n      - name: WAIT\n        with:\n          duration: 1s\n"})
	r := e.pipedeck("up", repo, "--cluster", "none", "--output", "plain")
	require.Equal(t, 2, r.Code)
	require.Contains(t, r.Stderr, "build it with: make build")

	s := e.start("up", repo, "--cluster", "none", "--compile", checkout)
	s.await("the UI's server is there", func(v event) bool {
		return v.is("component", "name", "control plane", "state", "READY")
	})
	require.NoFileExists(t, filepath.Join(e.Bin, "piped"), "nothing has been compiled")
	r = e.pipedeck("validate", repo)
	require.Equal(t, 2, r.Code)
	require.Contains(t, r.Stderr, "validate is still being compiled: ")
	var compiled, deployed bool // in any order: no one waits for the last programs
	s.await("the programs are compiled and work", func(v event) bool {
		compiled = compiled || v.is("component", "name", "programs", "state", "READY")
		deployed = deployed || v.is("deployment", "app", "web", "status", "SUCCESS")
		return compiled && deployed
	})
	r = e.pipedeck("validate", repo)
	require.Equal(t, 0, r.Code, r.Stderr)
}

func TestAProgramThatDoesNotCompileEndsTheStartInTheCompilersWords(t *testing.T) {
	t.Parallel()
	e := onlyPipedeck(t)
	checkout := filetest.Write(t, t.TempDir(), map[string]string{
		"go.mod":                    "module example.com/broken\n\ngo 1.24\n",
		"cmd/pipedeck-more/main.go": "package main\n\nfunc main() {}\n",
		"cmd/piped/main.go":         "package main\n\nfunc main() {\n",
	})
	repo := repository(t, map[string]string{"web/app.pipecd.yaml": application("web", "")})
	r := e.pipedeck("up", repo, "--cluster", "none", "--compile", checkout, "--output", "plain")
	require.Equal(t, 3, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "main.go:4:1")
	require.Contains(t, r.Stderr, "correct the sources, then run: make up")
}
