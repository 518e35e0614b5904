// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

// TestMain lets this program be the kubernetes plugin, too, which init and validate look for next to this
// program.
func TestMain(m *testing.M) {
	helm.ServeIfChild()
	engine.ServeIfRendering()
	engine.ServeIfChecking()
	program, err := os.Executable()
	if err == nil {
		plugins := filepath.Join(filepath.Dir(program), "plugins")
		err = os.MkdirAll(plugins, 0o700)
		if err == nil {
			err = os.Symlink(program, filepath.Join(plugins, "kubernetes"))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		fmt.Fprintln(os.Stderr, "let the commands find the plugin:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
