// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pipedeck/pipedeck/plugins/terraform/change"
	"github.com/pipedeck/pipedeck/plugins/terraform/command"
)

// Moment names a version of a state. Two with the same numbers are the same state.
type Moment struct {
	Serial  uint64 `json:"serial"`
	Lineage string `json:"lineage"`
}

// Plan is a plan in a file.
type Plan struct {
	File string
	// Sum is the SHA-256 of the file, in hexadecimal digits.
	Sum string
	// Moment is the state that the plan was made for.
	Moment  Moment
	Changes *change.Set
	// JSON is the plan as "show -json" prints it, and holds secrets; nil for a plan without changes for
	// PlanOptions.Known.
	JSON []byte
	// Warnings are those of the program that made the plan; a plan that was read has none.
	Warnings []string
}

// PlanOptions say how a plan is made.
type PlanOptions struct {
	// File is where the plan is saved.
	File string
	// Output gets what the program says meanwhile; nil for no one.
	Output io.Writer
	// Unlocked is for plans that no one applies.
	Unlocked bool
	// Known is a state that the caller knows; nil for none. A plan that has no changes for it is not read, which is
	// half of the work.
	Known *Moment
	// Extra are more flags.
	Extra []string
}

// codeChanges is the exit code of a plan that has changes.
const codeChanges = 2

// Plan makes a plan and saves it. The file holds secrets; only its owner may read it, and a failure leaves none.
func (s *Session) Plan(ctx context.Context, opts PlanOptions) (*Plan, error) {
	made, err := s.plan(ctx, opts)
	if err != nil {
		_ = os.Remove(opts.File)
	}
	return made, err
}

func (s *Session) plan(ctx context.Context, opts PlanOptions) (*Plan, error) {
	// The program creates the file with its own permissions.
	if err := os.WriteFile(opts.File, nil, 0o600); err != nil {
		return nil, fmt.Errorf("save the plan: %w", err)
	}
	run := s.locking
	if opts.Unlocked {
		run = s.runner.Run
	}
	made, err := run(ctx, command.Command{Args: s.planArgs(opts), Env: s.Source.App.CommandEnvs.Plan,
		Output: opts.Output, Codes: []int{codeChanges}})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(opts.File, 0o600); err != nil {
		return nil, err
	}
	moment, err := momentOfPlan(opts.File)
	if err == nil && made.Code == 0 && opts.Known != nil && moment == *opts.Known {
		return &Plan{File: opts.File, Moment: moment, Changes: &change.Set{}}, nil
	}
	plan, err := s.ReadPlan(ctx, opts.File)
	if err != nil {
		return nil, err
	}
	plan.Warnings = s.runner.Warnings(made.Stdout)
	return plan, nil
}

func (s *Session) planArgs(opts PlanOptions) []string {
	flags := s.Source.App.CommandFlags
	args := []string{"plan", "-input=false", "-no-color", "-detailed-exitcode", "-out=" + opts.File}
	if opts.Unlocked {
		args = append(args, "-lock=false")
	}
	args = append(append(append(args, opts.Extra...), flags.Shared...), flags.Plan...)
	for _, entry := range s.vars() {
		args = append(args, "-var="+entry)
	}
	for _, file := range s.Source.App.VarFiles {
		args = append(args, "-var-file="+file)
	}
	return args
}

// ReadPlan reads a saved plan.
func (s *Session) ReadPlan(ctx context.Context, file string) (*Plan, error) {
	shown, err := s.runner.Run(ctx, command.Command{Args: []string{"show", "-json", "-no-color", file}})
	if err != nil {
		return nil, err
	}
	plan := &Plan{File: file, JSON: shown.Stdout}
	if plan.Changes, err = change.Of(shown.Stdout); err != nil {
		return nil, err
	}
	s.Hide(plan.Changes.Secrets())
	if plan.Sum, err = SumOf(file); err != nil {
		return nil, err
	}
	if plan.Moment, err = momentOfPlan(file); err != nil {
		// A plan may be encrypted.
		plan.Moment, err = s.Moment(ctx)
	}
	return plan, err
}

// SumOf is the SHA-256 of a file, in hexadecimal digits.
func SumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// momentOfPlan reads the state that a saved plan was made for: a plan is an archive with that state, as it was before
// it was refreshed.
func momentOfPlan(path string) (Moment, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return Moment{}, err
	}
	defer func() { _ = archive.Close() }() // it was only read
	state, err := archive.Open("tfstate")
	if err != nil {
		return Moment{}, err
	}
	defer state.Close()
	return decodeMoment(io.LimitReader(state, command.MaxOutput))
}

func decodeMoment(from io.Reader) (Moment, error) {
	var moment Moment
	err := json.NewDecoder(from).Decode(&moment)
	if errors.Is(err, io.EOF) {
		return Moment{}, nil // there is no state yet
	}
	if err != nil {
		return Moment{}, fmt.Errorf("read the state: %w", err)
	}
	return moment, nil
}
