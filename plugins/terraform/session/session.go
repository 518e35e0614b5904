// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/command"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/module"
)

// Source is an application at one commit.
type Source = sdk.Source[config.Application]

// Target is a deploy target.
type Target = sdk.DeployTarget[config.Target]

// Place is what to work with, and where.
type Place struct {
	// ApplicationID names the application for a state that it keeps on this machine.
	ApplicationID string
	Source        *Source
	Target        Target
	// Config is that of the plugin.
	Config config.Plugin
	// Programs finds the program.
	Programs *Programs
	// WorkDir is that of the plugin, with its default.
	WorkDir string
	// DataDir is where the program keeps modules and providers; empty is the directory of the application.
	DataDir string
	// Waits is called when a command waits for the lock of the state; nil for no one.
	Waits Waits
}

// Session is an application at one deploy target.
type Session struct {
	Place
	runner *command.Runner
	// Program is the path of tofu or terraform, Version its version.
	Program, Version string
	// State says where the state is when it is on this machine.
	State string
	// Workspace is the workspace that is selected; empty for the default one.
	Workspace string
}

// Open makes the session. Its Place.Source.Dir is changed: it has to be a private copy.
func Open(ctx context.Context, place Place) (*Session, error) {
	s, err := prepare(ctx, place)
	if err != nil {
		return nil, err
	}
	if err := s.init(ctx); err != nil {
		return nil, err
	}
	return s, s.selectWorkspace(ctx)
}

// prepare does what needs no state.
func prepare(ctx context.Context, place Place) (*Session, error) {
	if err := checkInputs(place.Source.Dir, &place.Source.App); err != nil {
		return nil, err
	}
	program, version, err := place.Programs.find(ctx, place)
	if err != nil {
		return nil, err
	}
	s := &Session{Place: place, Program: program, Version: version}
	s.Workspace = cmp.Or(place.Source.App.Workspace, place.Target.Config.Workspace)
	secrets, err := s.secrets()
	if err != nil {
		return nil, err
	}
	env := []string{}
	if place.DataDir != "" {
		env = append(env, "TF_DATA_DIR="+place.DataDir)
		env = append(env, lateCollection()...)
	}
	env = append(env, "TF_PLUGIN_CACHE_DIR="+s.providers())
	s.runner = &command.Runner{
		Program: program, Dir: place.Source.Dir, Secrets: secrets,
		Env: append(command.Environment(env...), place.Source.App.CommandEnvs.Shared...),
	}
	return s, s.keepLocalState()
}

// lateCollection has a program that only looks, which runs often, collect garbage for the first time at 60 MB and
// never let it grow past the limit: a plan of 100 resources ends before that, with a tenth less CPU and a tenth more
// memory. What the user has set stays.
func lateCollection() []string {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return []string{"GOGC=1500", "GOMEMLIMIT=512MiB"}
}

// secrets are the values of variables that are declared to be sensitive, and of the environment of commands.
func (s *Session) secrets() ([]string, error) {
	names, err := module.Sensitive(s.Source.Dir)
	if err != nil {
		return nil, err
	}
	var secrets []string
	for _, entry := range s.vars() {
		if name, value, _ := strings.Cut(entry, "="); names[strings.TrimSpace(name)] {
			secrets = append(secrets, value)
		}
	}
	envs := s.Source.App.CommandEnvs
	for _, list := range [][]string{envs.Shared, envs.Init, envs.Plan, envs.Apply} {
		for _, entry := range list {
			name, value, _ := strings.Cut(entry, "=")
			variable, is := strings.CutPrefix(name, "TF_VAR_")
			if is && names[variable] || looksSecret(name) {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets, nil
}

// looksSecret is whether variables of that name hold secrets as a rule.
func looksSecret(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"SECRET", "TOKEN", "PASSWORD", "KEY", "CREDENTIAL"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// vars are those of the deploy target, then those of the application: the later ones win.
func (s *Session) vars() []string {
	return append(append([]string(nil), s.Target.Config.Vars...), s.Source.App.Vars...)
}

// providers is the cache that all applications share.
func (s *Session) providers() string { return filepath.Join(s.WorkDir, "providers") }

func (s *Session) init(ctx context.Context) error {
	flags := s.Source.App.CommandFlags
	args := append([]string{"init", "-input=false", "-no-color"}, flags.Shared...)
	unlock, err := lockCache(ctx, s.providers())
	if err != nil {
		return err
	}
	defer unlock()
	_, err = s.runner.Run(ctx, command.Command{Args: append(args, flags.Init...), Env: s.Source.App.CommandEnvs.Init})
	return err
}

func (s *Session) selectWorkspace(ctx context.Context) error {
	if s.Workspace == "" || s.Workspace == "default" {
		return nil
	}
	args := []string{"workspace", "select", "-no-color"}
	if s.Source.App.CreateWorkspace {
		args = append(args, "-or-create=true")
	}
	_, err := s.runner.Run(ctx, command.Command{Args: append(args, s.Workspace)})
	if failure, is := command.AsFailure(err); is && strings.Contains(failure.Said, "doesn't exist") {
		return fmt.Errorf("the workspace %s does not exist%s", s.Workspace, s.createStep())
	}
	return err
}

// createStep is how a workspace comes to be. Only the plugin works with a state that it keeps on this machine.
func (s *Session) createStep() string {
	step := "\nnext step: set spec.plugins.terraform.createWorkspace: true in the application"
	if s.State == "" {
		step += ", or create it: tofu workspace new " + s.Workspace
	}
	return step
}

// Hide keeps more texts out of errors and logs.
func (s *Session) Hide(secrets []string) { s.runner.Secrets = append(s.runner.Secrets, secrets...) }
