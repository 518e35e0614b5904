// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/ci"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newCICommand(t *session.Target) *cobra.Command {
	flags := &Flags{}
	var output string
	var change changeFlags
	var timeout time.Duration
	var keep bool
	results, recording := &results{}, &recording{}
	cmd := &cobra.Command{
		Use: "ci [DIR]", Short: "Deploy everything at HEAD without a UI, report, tear down",
		Args: cobra.MaximumNArgs(1),
		Long: `Bring up a separate environment, deploy every application at HEAD, wait for all of them, tear
the environment down. Exit code 0: all were deployed; 1: a deployment failed, what was deployed is not
healthy, or there was no deployment; 2: wrong usage or configuration; 3: the environment could not
start; 4: timed out; 5: all were deployed, but a part of the environment is degraded; 6: the output or the
session of --record could not be written.

However it ends, a table has every application with its result and reason; --junit and --report write
the same to files. In GitHub Actions, failures are annotations at their lines as well.

A first deployment is a quick sync, so pipelines do not run. For a pull request, --from deploys the base
first and then HEAD, so that HEAD is deployed as the change that it is: by the strategy that piped plans
and with the stages of the pipeline.` + samplesHelp(),
		Example: `  pipedeck ci
  pipedeck ci --from origin/main --approve auto --wait fast
  pipedeck ci --from HEAD~1 --changed
  pipedeck ci --junit results.xml --report results.md --report results.json
  pipedeck ci --exclude label:team=data --allow-missing
  pipedeck ci ~/src/my-app --output json
  pipedeck ci --sample hello-world --cluster embedded --timeout 2m`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			mode, err := ChooseOutput(output, false)
			if err != nil {
				return err
			}
			if err := cmp.Or(checkBreaksInCI(flags.breaks), change.check(cmd)); err != nil {
				return err
			}
			if !defaults.GivenForCommand(cmd.Flags().Lookup("name")) {
				// Its own, so that it disturbs neither a running environment nor another ci.
				t.Name = "ci-" + uuid.NewString()[:8]
			}
			if err := recording.create(); err != nil {
				return err
			}
			recording.prints(mode, cmd.OutOrStdout())
			defer func() { err = recording.finish(cmd.ErrOrStderr(), err) }()
			s := &Setup{Target: t, Flags: flags, Mode: mode, Keep: keep, Args: args, change: change, results: results,
				recording: recording, Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
			return s.CI(cmd.Context(), timeout)
		},
	}
	flags.Register(cmd)
	change.register(cmd)
	results.register(cmd)
	recording.register(cmd)
	cmd.Flags().StringVar(&output, "output", "auto",
		"plain, reader (sentences), json (one event a line); auto is plain")
	limit.Var(cmd.Flags(), &timeout, "timeout", 10*time.Minute, "give up after this time")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep cluster and state when leaving; an environment that was there "+
		"before is always kept")
	return cmd
}

// CI deploys every application at HEAD, and removes what it has created unless the user keeps that. It ends at the
// latest after timeout, and writes the result line of --output json.
func (s *Setup) CI(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if s.results == nil {
		s.results = &results{}
	}
	if s.change.from != "" && len(s.Args)+len(s.Flags.samples) == 0 {
		s.Args = []string{"."} // HEAD may have no application: what it removes is a result, too
	}
	if err := s.results.begin(s.Mode, s.Out, s.Err); err != nil {
		return finish(s.Mode, s.Out, err)
	}
	err := s.recording.finish(s.Err, s.results.conclude(exit.Explain(ctx, s.ci(ctx))))
	err = s.results.actions.quoteError(err)
	if err == nil && s.results.untouched != "" && s.Mode == outputJSON {
		return reader.NothingToDeploy(s.Out, s.results.untouched)
	}
	return finish(s.Mode, s.Out, err)
}

func (s *Setup) ci(ctx context.Context) error {
	w, err := s.Target.Workspace()
	if err != nil {
		return err
	}
	running, err := hasHolder(ctx, w)
	if err != nil {
		return err
	}
	if running {
		return exit.Usage(fmt.Errorf("environment %q is running", w.Name), "choose another --name, or none")
	}
	// What was there before holds someone's work: only what this run makes is removed.
	existed, err := w.Exists()
	if err != nil {
		return err
	}
	s.Keep = s.Keep || existed
	if existed && s.change.from != "" {
		return exit.Usage(fmt.Errorf("--from needs a new environment, because the base has to be deployed first; "+
			"environment %q is there already", w.Name), "choose another --name, or none")
	}
	if err := s.Flags.checkKeptClusters(w); err != nil {
		return err
	}
	if err := s.Flags.check(ctx, w, s.Args); err != nil {
		return err
	}
	from, err := s.Flags.chooseSource(s.Args)
	if err != nil {
		return err
	}
	if err := w.Create(); err != nil {
		return err
	}
	run, err := s.prepare(ctx, w, from)
	if err != nil || run == nil {
		if !s.Keep {
			err = errors.Join(err, discard(w))
		}
		return err
	}
	err = s.deploy(ctx, run)
	if !s.began && !s.Keep {
		err = errors.Join(err, discard(w))
	}
	for _, text := range run.Outcome().Summary() {
		s.say(text)
	}
	return err
}

// prepare checks what is to be deployed, before anything is started. The run is nil when there is nothing to deploy.
func (s *Setup) prepare(ctx context.Context, w *workspace.Workspace, from *source) (*ci.Run, error) {
	repository, err := from.open(w)
	if err != nil {
		return nil, err
	}
	checker, err := s.readApplications(ctx, w, repository)
	if err != nil {
		return nil, err
	}
	var compared *ci.Range
	if s.change.from != "" {
		if compared, err = s.compare(ctx, repository, checker); err != nil {
			return nil, err
		}
		if s.change.changed && !compared.DeploysHead() {
			return nil, s.results.withoutDeployments(compared)
		}
		repository = compared.Selected(repository)
	} else if repository, err = s.results.whole(repository); err != nil {
		return nil, err
	}
	s.results.warnUnused(s.warn)
	further, err := s.further(ctx, w, repository)
	if err != nil {
		return nil, err
	}
	if err := s.checkApplications(); err != nil && (len(further) == 0 || isUsage(err)) {
		return nil, err
	}
	repository = repository.Only(s.results.deploys)
	settings := ci.Options{
		Repository: repository, Further: further, Range: compared, Actions: s.change.actions,
		Say: s.say, Warn: s.warn, Flags: s.Target.Flags(), Tolerates: s.results.tolerates,
	}
	if compared == nil {
		return ci.NewRun(settings), nil
	}
	commits := make(chan string, 2) // the base and HEAD
	settings.Move = func(commit string) { commits <- commit }
	settings.Switched = s.switched
	run := ci.NewRun(settings)
	s.follows = &following{first: run.First(), commits: commits, selects: compared.Selects}
	return run, nil
}

// compare compares HEAD with the commit of --from.
func (s *Setup) compare(ctx context.Context, repository *workspace.Repository, checker *options.Checker) (*ci.Range,
	error) {
	compared, err := ci.Compare(ctx, repository, s.change.from, s.change.changed, checker)
	if err != nil {
		return nil, err
	}
	if len(repository.Applications) == 0 && len(compared.Base.Applications) == 0 {
		return nil, noApplication(repository)
	}
	if err := s.unselect(compared.Base, compared.Checked); err != nil {
		return nil, err
	}
	if err := s.results.compared(compared); err != nil {
		return nil, err
	}
	for _, note := range compared.Notes() {
		s.say(note)
	}
	return compared, nil
}

// noApplication is the error of a repository that has nothing to deploy.
func noApplication(repository *workspace.Repository) error {
	return exit.Usage(fmt.Errorf("%s has no application at HEAD", repository.Root),
		"write one with: pipedeck init "+text.ShellWord(repository.Root)+"; or commit an app.pipecd.yaml; or use "+
			"--sample hello-world")
}

// deploy runs the environment until the run has ended.
func (s *Setup) deploy(ctx context.Context, run *ci.Run) error {
	left, hint := "the environment is still starting", ""
	s.results.facts.At = run.At
	err := s.host(ctx, func(ctx context.Context, deck deckv1.DeckServiceClient) error {
		s.results.actions.begin("Deploy commit " + line.Commit(s.results.facts.Head))
		watching, stop := context.WithCancel(ctx)
		defer stop()
		live := &liveWait{head: s.results.facts.Head, stop: stop, tolerant: s.results.allowUnhealthy}
		defer live.reset()
		unmatched := s.warnUnmatched()
		err := follow(watching, deck, s.Mode, s.results.actions.stream(s.Out),
			s.results.watch(reader.Options{Flags: s.Target.Flags(), Until: func(d *state.Deck) bool {
				unmatched(d)
				ended := live.follows(d, func() bool { return run.Step(ctx, deck, d) }, s.results.succeeded)
				waiting, next := run.Left()
				left = cmp.Or(waiting, live.text(), unfinished(d), "piped has not registered each application yet")
				hint = next
				return ended
			}}))
		if watching.Err() != nil && ctx.Err() == nil {
			err = nil // what is not well by now is in the results
		}
		s.results.actions.end()
		s.results.gone(run.Outcome())
		if err != nil {
			return incomplete(err, left, hint)
		}
		if run.Err() != nil && run.Outcome().Head == nil {
			s.results.facts.BaseFailed = true
			return run.Err()
		}
		if err := verdict(s.results.run(time.Now())); err != nil {
			return err
		}
		return checkHealth(ctx, deck, func(p *deckv1.Problem) bool { return run.Expected(p) || s.results.expects(p) })
	})
	// The host may end at the same time and say only that.
	return incomplete(err, left, hint)
}

// discard removes an environment that this process has created and that no process runs.
func discard(w *workspace.Workspace) error {
	lock, err := w.Acquire()
	if err != nil {
		return err
	}
	return errors.Join(w.Remove(lock), lock.Release())
}

// readApplications reads every application configuration at HEAD, before anything is started.
func (s *Setup) readApplications(ctx context.Context, w *workspace.Workspace,
	repository *workspace.Repository) (*options.Checker, error) {
	s.results.opened(repository)
	if note := uncommittedNote(ctx, repository.Root); note != "" {
		s.warn(note)
	}
	skipped := repository.SkippedText()
	if skipped != "" && len(repository.Applications) > 0 {
		s.warn("warning: " + skipped)
	}
	if skipped != "" && len(repository.Applications) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s has no other application at HEAD: %s", repository.Root, skipped),
			"rename the paths and commit that")
	}
	misnamed, err := repository.Misnamed()
	if err != nil {
		return nil, err
	}
	for _, file := range misnamed {
		s.warn("warning: " + file + ": " + config.NotFound)
	}
	if len(repository.Applications) == 0 && s.change.from == "" {
		return nil, noApplication(repository)
	}
	checker, err := s.Flags.checker(ctx, w)
	if err != nil {
		return nil, err
	}
	checked, err := checkAtHead(repository, checker)
	if err != nil {
		return nil, err
	}
	if err := s.unselect(repository, checked); err != nil {
		return nil, err
	}
	s.results.take(checked)
	if s.change.from != "" { // other applications are deployed before those of HEAD
		return checker, nil
	}
	return checker, checkFaultTargets(s.Flags.faults, repository, checker)
}

// checkApplications shows what is wrong with the applications that are deployed, all at once.
func (s *Setup) checkApplications() error {
	for _, one := range s.results.facts.Checked {
		if !s.results.deploys(one.File) {
			continue
		}
		for _, warning := range one.Warnings {
			s.warn("warning: " + warning)
		}
		if verdict := s.results.facts.ByHand[one.File]; verdict.Result != "" {
			s.warn(cmp.Or(one.Name, one.File) + ": not deployed in this run: " + verdict.Reason)
		}
	}
	if err := s.results.mistakes(); err != nil {
		return err
	}
	return s.results.nothing()
}

// incomplete is the error of a run that ended with err before all was deployed. left is what it waited for, hint the
// next step when that is another one than more time.
func incomplete(err error, left, hint string) error {
	var failure *exit.Error
	switch {
	case errors.As(err, &failure):
		return err
	case errors.Is(err, reader.ErrEnded):
		// For whoever asked it to end that is no error, but no one may take it for a success.
		return exit.With(exit.Interrupted, errors.New("the environment was ended before everything was deployed"),
			"run it again")
	case errors.Is(err, context.DeadlineExceeded):
		return exit.With(exit.TimedOut, fmt.Errorf("timed out: %s", left),
			cmp.Or(hint, "fix what it waited for, or give more time with --timeout"))
	default:
		return err
	}
}

// unfinished says what an environment is waiting for: parts that do not work, and those that do not run yet, or else
// deployments.
func unfinished(d *state.Deck) string {
	left := waiting(d)
	for _, p := range d.Problems() {
		left = append(left, fmt.Sprintf("%s is degraded: %s (next step: %s)", p.GetPart(), p.GetReason(),
			p.GetNextStep()))
	}
	return strings.Join(left, "; ")
}

// waiting lists the components that do not run yet, or else the deployments that have not ended.
func waiting(d *state.Deck) (left []string) {
	for _, c := range d.Components() {
		if c.State == deckv1.Component_STATE_STARTING {
			left = append(left, fmt.Sprintf("%s: %s", c.Name, c.Detail))
		}
	}
	if len(left) > 0 {
		return left
	}
	for _, a := range d.Applications() {
		switch newest := d.Newest(a.Id); {
		case newest == nil && a.GetManual():
		case newest == nil:
			left = append(left, a.Name+": not deployed yet")
		case !state.Ended(newest.Status):
			left = append(left, fmt.Sprintf("%s: %s: %s", a.Name, reader.Name(newest.Status), newest.StatusReason))
		}
	}
	return left
}
