// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/git/address"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/system/exhaustion"
)

// deliveryTime is how long kept reports may wait over a connection that stands before that counts as a problem:
// they go out within a moment, in order, and what starts deployments waits behind them.
const deliveryTime = 10 * time.Second

// watchHealth adds the sources of problems. The other parts say themselves what does not work.
func (a *Agent) watchHealth() {
	a.problems.AddSource(a.plugins.Problems)
	a.problems.AddSource(health.Disk(a.options.WorkDir, health.MinFree))
	a.problems.AddSource(health.Descriptors)
	a.problems.AddSource(func() []health.Problem { return spoolProblems(a.spool.Stats(), a.connected(), time.Now()) })
}

// degraded names the parts that do not work as they should.
func (a *Agent) degraded() (parts []string) {
	for _, p := range a.problems.Problems() {
		parts = append(parts, p.Part)
	}
	return slices.Compact(slices.Sorted(slices.Values(parts)))
}

// connected reports whether there is a connection to the control plane now.
func (a *Agent) connected() bool {
	now, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	return a.client.Connected(now) == nil
}

// followPlugins has the health reported again when a plugin has changed, until ctx ends. It returns nil.
func (a *Agent) followPlugins(ctx context.Context) error {
	for {
		changed := a.plugins.Changed()
		a.problems.Touch()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// looked notes the outcome of a look at a repository.
func (a *Agent) looked(repository *git.Repository, err error) {
	part := "repository " + repository.ID()
	var known *git.RepositoryError
	switch {
	case err == nil:
		a.problems.Clear(part)
	case errors.As(err, &known):
		a.problems.Set(part, fmt.Sprintf("%s: %v", known.Remote, known.Reason), known.Hint)
	default:
		a.problems.Set(part, err.Error(), cmp.Or(exhaustion.Advice(err),
			"see whether Git can read it: git ls-remote "+address.WithoutCredentials(repository.Remote())))
	}
}

// watched notes whether a repository can be watched for changes.
func (a *Agent) watched(repository string, err error) {
	part := "watch of repository " + repository
	if err == nil {
		a.problems.Clear(part)
		return
	}
	a.problems.Set(part, fmt.Sprintf("changes are noticed after up to 5 s instead of at once: %v", err),
		cmp.Or(exhaustion.WatchAdvice(err), "read piped's log; piped tries it again"))
}

// mirrorDamaged notes whether the mirror of a repository is damaged.
func (a *Agent) mirrorDamaged(repository string, err error) {
	part := "mirror of repository " + repository
	if err == nil {
		a.problems.Clear(part)
		return
	}
	a.problems.Set(part, fmt.Sprintf("the mirror is damaged and is fetched again: %v", err),
		"wait until it is fetched; piped's log says which object is damaged")
}

// passed notes the outcome of a pass of the trigger.
func (a *Agent) passed(err error) {
	const part = "trigger"
	if err == nil {
		a.problems.Clear(part)
		return
	}
	a.problems.Set(part, "not everything could be triggered or reported: "+err.Error(),
		cmp.Or(exhaustion.Advice(err), callAdvice(err), "read piped's log; piped tries it again"))
}

// eventsPassed notes the outcome of a look at the events.
func (a *Agent) eventsPassed(err error) {
	const part = "event watcher"
	if err == nil {
		a.problems.Clear(part)
		return
	}
	a.problems.Set(part, "events cannot be brought into Git: "+err.Error(),
		cmp.Or(exhaustion.Advice(err), callAdvice(err), "read piped's log; piped tries it again"))
}

// listed notes the outcome of reading a list of the control plane.
func (a *Agent) listed(list string, err error) {
	part := "list of " + list
	if err == nil {
		a.problems.Clear(part)
		return
	}
	a.problems.Set(part, fmt.Sprintf("the control plane does not return the list of %s: %v", list, err),
		cmp.Or(callAdvice(err), "read the log of the control plane; piped tries it again"))
}

// callAdvice is the next step for an error of a call to the control plane; empty for errors that say it themselves.
func callAdvice(err error) string {
	switch status.Code(err) {
	case codes.ResourceExhausted:
		return "start piped with a larger --max-recv-msg-size"
	case codes.Unauthenticated, codes.PermissionDenied:
		return "check projectID, pipedID and the piped key in piped's configuration"
	case codes.Unavailable, codes.DeadlineExceeded:
		return "see that the control plane runs and can be reached"
	default:
		return ""
	}
}

// spoolProblems says what is wrong with the reports that wait for the control plane. While there is no connection they
// are expected to wait.
func spoolProblems(s spool.Stats, connected bool, now time.Time) []health.Problem {
	problem := health.Problem{Part: "reports"}
	switch {
	case s.Full:
		problem.Reason = fmt.Sprintf("deployments wait: there is no room for more reports to the control plane, "+
			"%d wait since %s", s.Reports, s.Oldest.UTC().Format(time.RFC3339))
		problem.NextStep = "free space on the disk of piped's work directory, and see that the control plane can " +
			"be reached"
	case connected && !s.Oldest.IsZero() && now.Sub(s.Oldest) > deliveryTime:
		problem.Reason = fmt.Sprintf("%d reports do not get through to the control plane since %s", s.Reports,
			s.Oldest.UTC().Format(time.RFC3339))
		problem.NextStep = "read the logs of piped and of the control plane: one of them says why"
	default:
		return nil
	}
	return []health.Problem{problem}
}
