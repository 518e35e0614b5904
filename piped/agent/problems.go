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

// problems keeps what does not work, by the outcomes that parts report.
type problems struct{ registry *health.Registry }

func newProblems() *problems { return &problems{registry: health.New(nil)} }

// watch adds sources of problems. The other parts report themselves what does not work.
func (p *problems) watch(sources ...func() []health.Problem) {
	for _, source := range sources {
		p.registry.AddSource(source)
	}
}

// degraded names the parts that do not work as they should.
func (p *problems) degraded() (parts []string) {
	for _, problem := range p.registry.Problems() {
		parts = append(parts, problem.Part)
	}
	return slices.Compact(slices.Sorted(slices.Values(parts)))
}

// changing is what a pluginhost.Host offers.
type changing interface{ Changed() <-chan struct{} }

// follow has the problems reported again when a plugin has changed, until ctx ends. It returns nil.
func (p *problems) follow(ctx context.Context, plugins changing) error {
	for {
		changed := plugins.Changed()
		p.registry.Touch()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// looked notes the outcome of a look at a repository.
func (p *problems) looked(repository *git.Repository, err error) {
	part := "repository " + repository.ID()
	var known *git.RepositoryError
	switch {
	case err == nil:
		p.registry.Clear(part)
	case errors.As(err, &known):
		p.registry.Set(part, fmt.Sprintf("%s: %v", known.Remote, known.Reason), known.Hint)
	default:
		p.registry.Set(part, err.Error(), cmp.Or(exhaustion.Advice(err),
			"see whether Git can read it: git ls-remote "+address.WithoutCredentials(repository.Remote())))
	}
}

// watched notes whether a repository can be watched for changes.
func (p *problems) watched(repository string, err error) {
	part := "watch of repository " + repository
	if err == nil {
		p.registry.Clear(part)
		return
	}
	p.registry.Set(part, fmt.Sprintf("changes are noticed after up to 5 s instead of at once: %v", err),
		cmp.Or(exhaustion.WatchAdvice(err), "read piped's log; piped tries it again"))
}

// mirrorDamaged notes whether the mirror of a repository is damaged.
func (p *problems) mirrorDamaged(repository string, err error) {
	part := "mirror of repository " + repository
	if err == nil {
		p.registry.Clear(part)
		return
	}
	p.registry.Set(part, fmt.Sprintf("the mirror is damaged and is fetched again: %v", err),
		"wait until it is fetched; piped's log says which object is damaged")
}

// passed notes the outcome of a pass of the trigger.
func (p *problems) passed(err error) {
	const part = "trigger"
	if err == nil {
		p.registry.Clear(part)
		return
	}
	p.registry.Set(part, "not everything could be triggered or reported: "+err.Error(),
		cmp.Or(exhaustion.Advice(err), callAdvice(err), "read piped's log; piped tries it again"))
}

// eventsPassed notes the outcome of a look at the events.
func (p *problems) eventsPassed(err error) {
	const part = "event watcher"
	if err == nil {
		p.registry.Clear(part)
		return
	}
	p.registry.Set(part, "events cannot be brought into Git: "+err.Error(),
		cmp.Or(exhaustion.Advice(err), callAdvice(err), "read piped's log; piped tries it again"))
}

// listed notes the outcome of reading a list of the control plane.
func (p *problems) listed(list string, err error) {
	part := "list of " + list
	if err == nil {
		p.registry.Clear(part)
		return
	}
	p.registry.Set(part, fmt.Sprintf("the control plane does not return the list of %s: %v", list, err),
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
		reports := "1 report does"
		if s.Reports != 1 {
			reports = fmt.Sprintf("%d reports do", s.Reports)
		}
		problem.Reason = fmt.Sprintf("%s not get through to the control plane since %s", reports,
			s.Oldest.UTC().Format(time.RFC3339))
		problem.NextStep = "read the logs of piped and of the control plane: one of them says why"
	default:
		return nil
	}
	return []health.Problem{problem}
}
