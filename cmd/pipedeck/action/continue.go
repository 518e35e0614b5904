// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/system/inputfile"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// maxWith bounds the file of --with.
const maxWith = 256 << 10

// withWait is the time to read it, which may be a pipe.
const withWait = 10 * time.Minute

// continueFlags say how a paused stage goes on.
type continueFlags struct {
	with               string
	again, skip, abort bool
	// options are those of --with as a JSON object; empty without.
	options string
}

func newContinueCommand(t *session.Target) *cobra.Command {
	f := &continueFlags{}
	cmd := action(t, &cobra.Command{
		Use: "continue [APP|DEPLOYMENT] [STAGE]", Short: "Go on with a stage that is paused at a breakpoint",
		Args: cobra.MaximumNArgs(2),
		Long: "Go on with a stage that is paused at a breakpoint: the only one, or the stage with this id or type of " +
			"this\napplication or deployment. A single argument is an application, a deployment or a stage.\n\n" +
			"Before a stage, the stage runs; --with gives it other options than Git has. After a stage, the stage " +
			"ends with\nits result, and after a failure the deployment fails; --again runs it once more, in the same " +
			"directory.",
		Example: "  pipedeck continue\n  pipedeck continue shop deploy --with options.yaml\n" +
			"  pipedeck continue shop --again\n  pipedeck continue shop --abort",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		return f.goOn(ctx, s, l)
	})
	flags := cmd.Flags()
	flags.StringVar(&f.with, "with", "", "`FILE` with the options of the stage in YAML or JSON, in place of with in "+
		"Git; - reads standard input")
	flags.BoolVar(&f.again, "again", false, "after a stage, run it once more as its next attempt")
	flags.BoolVar(&f.skip, "skip", false, "end the stage as skipped")
	flags.BoolVar(&f.abort, "abort", false, "cancel the deployment, which rolls back where the application wants that")
	cmd.MarkFlagsMutuallyExclusive("again", "skip", "abort")
	cmd.MarkFlagsMutuallyExclusive("with", "skip", "abort")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.read(cmd); err != nil { // before the environment has to answer
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

// read reads the file of --with.
func (f *continueFlags) read(cmd *cobra.Command) error {
	if f.with == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), withWait)
	defer cancel()
	var data []byte
	var err error
	if f.with == "-" {
		data, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxWith+1))
	} else {
		data, err = inputfile.Read(ctx, f.with, maxWith+1)
	}
	if err == nil && len(data) > maxWith {
		err = fmt.Errorf("it has more than %d bytes", maxWith)
	}
	var object map[string]any
	if err == nil && (yaml.Unmarshal(data, &object) != nil || object == nil) {
		err = errors.New("it is not an object with options in YAML or JSON")
	}
	var options []byte
	if err == nil {
		options, err = json.Marshal(object)
	}
	if err != nil {
		return exit.Usage(fmt.Errorf("--with %s: %w", f.with, err),
			"write the options as below with: in the configuration; see those of the stage: pipedeck break show")
	}
	f.options = string(options)
	return nil
}

// goOn says to piped how the stage goes on that the arguments name.
func (f *continueFlags) goOn(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
	w, err := continuing().find(l)
	if err != nil {
		return document.Action{}, err
	}
	if f.abort {
		answer, err := s.Deck.CancelDeployment(ctx,
			&deckv1.CancelDeploymentRequest{DeploymentId: w.deployment.GetId(), Commander: session.Commander()})
		return w.action("asked to cancel the deployment at", "", answer.GetCommandId()), err
	}
	request := &deckv1.ContinueStageRequest{
		DeploymentId: w.deployment.GetId(), StageId: w.stage.GetId(), Commander: session.Commander(),
		How: deckv1.ContinueStageRequest_HOW_CONTINUE, Options: f.options,
	}
	did := "continued"
	switch {
	case f.again:
		request.How, did = deckv1.ContinueStageRequest_HOW_AGAIN, "running again"
	case f.skip:
		request.How, did = deckv1.ContinueStageRequest_HOW_SKIP, "skipped"
	}
	answer, err := s.Deck.ContinueStage(ctx, request)
	if err != nil {
		return document.Action{}, continueRefused(w, err)
	}
	with := ""
	if f.options != "" {
		with = " with other options"
	}
	done := w.action(did, with, answer.GetCommandId())
	done.Unanswered = answer.GetUnanswered()
	return done, nil
}

// continueRefused is the answer of piped or of the control plane, with the next step.
func continueRefused(w waitingStage, err error) error {
	refused, ok := status.FromError(err)
	if !ok || refused.Code() != codes.InvalidArgument {
		return session.Unreachable(err)
	}
	return exit.With(exit.Failed, fmt.Errorf("stage %s of %s stays paused: %s", state.StageWord(w.stage),
		w.deployment.GetApplicationName(), refused.Message()), "see the stage: pipedeck break show")
}
