// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/command"
)

// Moment returns the version of the state now; without a state, the zero one.
func (s *Session) Moment(ctx context.Context) (Moment, error) {
	if s.State != "" && s.Workspace == "" {
		return momentOfFile(s.State)
	}
	pulled, err := s.runner.Run(ctx, command.Command{Args: []string{"state", "pull"}})
	if err != nil {
		return Moment{}, err
	}
	return decodeMoment(bytes.NewReader(pulled.Stdout))
}

// momentOfFile reads a state on this machine, which saves the start of the program.
func momentOfFile(path string) (Moment, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Moment{}, nil
	}
	if err != nil {
		return Moment{}, fmt.Errorf("read the state: %w", err)
	}
	defer file.Close()
	return decodeMoment(io.LimitReader(file, command.MaxOutput))
}

// Apply applies a saved plan. When ctx ends, the program finishes what it has begun; that may take as long as it takes.
// When it ends because piped was killed, nothing interrupts the program: no one has asked for that.
func (s *Session) Apply(ctx context.Context, plan *Plan, output io.Writer) error {
	if err := s.claimStates(); err != nil {
		return err
	}
	flags := s.Source.App.CommandFlags
	args := []string{"apply", "-input=false", "-no-color"}
	args = append(append(append(args, flags.Shared...), flags.Apply...), plan.File)
	_, err := s.locking(ctx, command.Command{Args: args, Env: s.Source.App.CommandEnvs.Apply, Output: output,
		Changes: true, LeftAlone: GoesOn})
	if failure, is := command.AsFailure(err); is && failure.Stale() {
		return fmt.Errorf("%w: the state has changed since the plan was made", ErrStale)
	}
	return err
}

// GoesOn is whether a program that applies goes on, without an interrupt, when its stage ends for a reason.
func GoesOn(cause error) bool { return errors.Is(cause, sdk.ErrPipedGone) }

// Show returns the state as JSON.
func (s *Session) Show(ctx context.Context) ([]byte, error) {
	shown, err := s.runner.Run(ctx, command.Command{Args: []string{"show", "-json", "-no-color"}})
	return shown.Stdout, err
}
