// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/terraform/module"
)

// overrideName is the file that puts a state to where it lasts. Files of this form override others.
const overrideName = "pipedeck_override.tf"

// keepLocalState gives a state that would be a file in the directory of the application another place, because that
// directory does not outlast the stage.
func (s *Session) keepLocalState() error {
	backend, err := module.BackendOf(s.Source.Dir)
	if err != nil {
		return err
	}
	given := slices.ContainsFunc(s.Source.App.CommandFlags.Init, func(flag string) bool {
		return strings.HasPrefix(strings.TrimLeft(flag, "-"), "backend")
	})
	if !backend.Local() || given {
		return nil
	}
	root := cmp.Or(s.Target.Config.LocalState, filepath.Join(s.WorkDir, "states"))
	dir := filepath.Join(root, url.PathEscape(s.ApplicationID), url.PathEscape(s.Target.Name))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of the state: %w", err)
	}
	s.State = filepath.Join(dir, "terraform.tfstate")
	const override = "terraform {\n  backend \"local\" {\n    path          = %s\n    workspace_dir = %s\n  }\n}\n"
	content := fmt.Sprintf(override,
		literal(s.State), literal(filepath.Join(dir, "workspaces")))
	if err := os.WriteFile(filepath.Join(s.Source.Dir, overrideName), []byte(content), 0o600); err != nil {
		return fmt.Errorf("write the place of the state: %w", err)
	}
	return nil
}

// claimStates creates the files that an apply writes a state on this machine to, where they are missing: the program
// would let everyone read them, although states hold secrets. It takes an empty file for no state. Those that exist
// keep the permissions that users gave them.
func (s *Session) claimStates() error {
	if s.State == "" {
		return nil
	}
	path := s.State
	if s.Workspace != "" && s.Workspace != "default" {
		path = filepath.Join(filepath.Dir(s.State), "workspaces", s.Workspace, filepath.Base(s.State))
	}
	for _, name := range []string{path, path + ".backup"} {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("create the file of the state: %w", err)
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// literal is a text in the language of configurations.
func literal(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(text))
}
