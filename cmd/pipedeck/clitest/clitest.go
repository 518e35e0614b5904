// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clitest runs the commands of pipedeck in tests as a user does.
package clitest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Run executes a command line of a user who keeps environments in stateDir. commands are those under test.
func Run(ctx context.Context, commands func(*session.Target) []*cobra.Command, stateDir string,
	args ...string) (code int, stdout, stderr string) {
	root := &cobra.Command{Use: "pipedeck"}
	target := &session.Target{}
	target.Register(root.PersistentFlags())
	root.AddCommand(commands(target)...)
	var out, errOut bytes.Buffer
	code = exit.Run(ctx, root, append(args, "--state-dir", stateDir), target.Flags, &out, &errOut)
	return code, out.String(), errOut.String()
}

// Repository creates a repository whose only application has the given configuration.
func Repository(t *testing.T, application string) string {
	t.Helper()
	dir := t.TempDir()
	_, err := git.PlainInit(dir, false)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.pipecd.yaml"), []byte(application), 0o600))
	CommitAll(t, dir)
	return dir
}

// CommitAll commits everything that has changed in a repository.
func CommitAll(t *testing.T, dir string) {
	t.Helper()
	repo, err := git.PlainOpen(dir)
	require.NoError(t, err)
	tree, err := repo.Worktree()
	require.NoError(t, err)
	require.NoError(t, tree.AddWithOptions(&git.AddOptions{All: true}))
	_, err = tree.Commit("change", &git.CommitOptions{Author: &object.Signature{Name: "a", Email: "a@example.com",
		When: time.Unix(1, 0)}})
	require.NoError(t, err)
}

// GoodApplication is a configuration that validate accepts.
const GoodApplication = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n" +
	"  plugins: {kubernetes: {}}\n"

// PrintingPlugin returns a program that prints a file as its schema.
func PrintingPlugin(t *testing.T, file string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "plugin")
	script := "#!/bin/sh\n[ \"$*\" = schema ] && exec cat '" + file + "'\nexit 1\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	return program
}

// GreeterSchema is the schema of the plugin greeter with the stage GREET.
const GreeterSchema = `{"definitions": {
	"config": {"type": "object", "additionalProperties": false, "properties": {"prefix": {"type": "string"}}},
	"stages": {"properties": {"GREET": {"$ref": "#/definitions/greet"}}},
	"greet": {"type": "object", "additionalProperties": false, "required": ["names"],
		"properties": {"names": {"type": "array", "items": {"type": "string"}}, "tone": {"enum": ["warm", "cold"]}}}
}}`
