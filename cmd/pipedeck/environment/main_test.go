// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/helper/server"
)

// TestMain lets this program be the helper, too, which commands look for next to themselves, and minisign.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == helper.Command {
		if err := server.ServeParent(context.Background(), slog.New(slog.DiscardHandler)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if filepath.Base(os.Args[0]) == minisignCommand {
		if err := verifyAsMinisign(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	program, err := os.Executable()
	if err == nil {
		err = os.Symlink(program, filepath.Join(filepath.Dir(program), helper.Program))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		fmt.Fprintln(os.Stderr, "let the commands find their helper:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
