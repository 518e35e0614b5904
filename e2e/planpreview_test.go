// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestABranchIsPreviewedBeforeItIsMerged(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"conf/app.pipecd.yaml": application("conf", ""),
		"conf/conf.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {v: \"1\"}\n",
	})
	s := e.start("up", repo, "--cluster", "embedded")
	s.await("it is deployed", func(e event) bool { return e.is("deployment", "app", "conf", "status", "SUCCESS") })

	write := func(value string) {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {v: " + value + "}\n"
		require.NoError(t, os.WriteFile(filepath.Join(repo, "conf", "conf.yaml"), []byte(text), 0o600))
		gittest.Run(t, repo, "commit", "-q", "-a", "-m", value)
	}
	gittest.Run(t, repo, "checkout", "-q", "-b", "feature")
	write(`"2"`)
	r := e.pipedeck("plan-preview", "-o", "json")
	require.Zero(t, r.Code, r.Stderr)
	var preview struct {
		HeadBranch   string `json:"head_branch"`
		Applications []struct {
			Name, Strategy string
			Targets        []struct{ Plugin, Summary, Details string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.Stdout), &preview), r.Stdout)
	require.Equal(t, "feature", preview.HeadBranch)
	require.Len(t, preview.Applications, 1)
	require.Equal(t, "QUICK_SYNC", preview.Applications[0].Strategy)
	require.Equal(t, "0 added manifests, 1 changed manifests, 0 deleted manifests",
		preview.Applications[0].Targets[0].Summary)
	require.Contains(t, preview.Applications[0].Targets[0].Details, "-  v: \"1\"\n+  v: \"2\"\n")
	e.document("plan-preview", 0, "diff", "conf", "--commit", "feature")
	r = e.pipedeck("diff", "conf", "--commit", "feature")
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, "-  v: \"1\"\n    +  v: \"2\"\n")

	gittest.Run(t, repo, "checkout", "-q", "-b", "refused")
	write("2")
	r = e.pipedeck("plan-preview")
	require.Equal(t, 1, r.Code, r.Stdout)
	require.Contains(t, r.Stdout, "conf.yaml:4: ConfigMap default/conf: data.v: expected a string")

	gittest.Run(t, repo, "checkout", "-q", "main")
	write(`"3"`)
	s.await("the commit on the branch is deployed", func(ev event) bool {
		head := gittest.Run(t, repo, "rev-parse", "HEAD")
		return ev.is("deployment", "app", "conf", "commit", head, "status", "SUCCESS")
	})
	r = e.pipedeck("plan-preview", "--branch", "feature")
	require.Equal(t, 1, r.Code, r.Stdout)
	require.Contains(t, r.Stdout, "conf/conf.yaml: both sides have changed the same lines")
	r = e.pipedeck("plan-preview", "--branch", "gone")
	require.Equal(t, 2, r.Code, r.Stdout)

	require.Zero(t, e.pipedeck("down").Code)
	_, code := s.wait()
	require.Zero(t, code)
	e.leavesNothing()
}
