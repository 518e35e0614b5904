// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heavy are packages that this program is compiled without, so that the first start shows the UI early, and what has
// them instead. docs/decisions/0030 says more.
var heavy = map[string]string{
	"github.com/go-git/go-git/v5":                   "package gitobjects, which uses go-git's storage alone",
	"github.com/go-git/go-git/v5/plumbing/object":   "package gitobjects",
	"github.com/ProtonMail/go-crypto/":              "package gitobjects",
	"k8s.io/":                                       "package kubeapi, or the helper",
	"sigs.k8s.io/structured-merge-diff/":            "package kubeapi, or the helper",
	"github.com/gorilla/websocket":                  "the helper",
	"sigs.k8s.io/kind/pkg/cluster":                  "the helper",
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4":     "the helper",
	"github.com/google/go-containerregistry/pkg/v1": "the helper",
	"github.com/klauspost/compress/":                "the helper",
	"github.com/google/cel-go/":                     "the program of the kubernetes plugin",
	"github.com/yuin/gopher-lua":                    "the program of the kubernetes plugin",
}

// The first program of a first start is compiled while the user waits for the UI.
func TestTheFirstProgramIsCompiledWithoutHeavyLibraries(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		require.NoError(t, err)
		packages := strings.Fields(string(out))
		require.Contains(t, packages, "github.com/go-git/go-git/v5/storage/filesystem", "the list is complete")
		for _, imported := range packages {
			for path, instead := range heavy {
				is := imported == path || strings.HasSuffix(path, "/") && strings.HasPrefix(imported, path)
				require.False(t, is, "pipedeck imports %s, directly or not; use %s", imported, instead)
			}
		}
	}
}
