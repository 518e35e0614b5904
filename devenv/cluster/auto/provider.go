// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"sync"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// Kind is this provider's own name, until one of the others was chosen.
const Kind cluster.Kind = "auto"

// Provider is one of two others.
type Provider struct {
	Config

	mu     sync.Mutex
	chosen cluster.Provider
}

var _ cluster.Provider = (*Provider)(nil)

// Config says what there is to choose from.
type Config struct {
	// Kind and Embedded write the same kubeconfig and remove, by Delete, what was recorded in Dir.
	Kind, Embedded cluster.Provider
	// Engine finds the container engine. It is bounded and ends with its context.
	Engine func(context.Context) (*engine.Engine, error)
	// Dir is the cluster's directory.
	Dir string
	// Recorded reports whether kind has a record there.
	Recorded func(dir string) bool
	// Kubeconfig is the file that either writes.
	Kubeconfig string
	Logger     *slog.Logger
}

// New returns a provider; nothing is chosen yet.
func New(c Config) *Provider { return &Provider{Config: c} }

// Describe implements cluster.Provider: it is the chosen one's answer as soon as there is one.
func (p *Provider) Describe() cluster.Description {
	if chosen := p.current(); chosen != nil {
		return chosen.Describe()
	}
	return cluster.Description{Kind: Kind, Kubeconfig: p.Kubeconfig}
}

// Run chooses and runs what it chose. When kind fails before it was ready for the first time, the
// embedded Kubernetes takes its place.
func (p *Provider) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	settled, err := p.settled()
	if err != nil {
		return &cluster.HintError{Err: err, Hint: "start again after: pipedeck down"}
	}
	if settled != nil {
		return p.runSettled(ctx, settled, progress, ready)
	}
	progress("looking for a container engine", 0, 0)
	found, err := p.Engine(ctx)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		why := "no kind: " + short(err)
		progress("embedded Kubernetes, "+why, 0, 0)
		return p.run(ctx, p.Embedded, &choice{cluster.Embedded, why}, progress, ready)
	}
	why := found.String() + " answers"
	progress("kind, because "+why, 0, 0)
	becameReady := false
	err = p.run(ctx, p.Kind, &choice{cluster.InDocker, why}, progress, func(detail string) {
		becameReady = true
		ready(detail)
	})
	if err == nil || ctx.Err() != nil || becameReady {
		return err
	}
	p.Logger.Warn("kind failed; the embedded Kubernetes takes its place", "error", err)
	why = "kind failed: " + short(err)
	progress("embedded Kubernetes, "+why, 0, 0)
	// Its record must not be lost with the directory that the two share.
	if leftErr := p.Kind.Delete(ctx); leftErr != nil {
		return errors.Join(err, leftErr)
	}
	return p.run(ctx, p.Embedded, &choice{cluster.Embedded, why}, progress, ready)
}

// settled returns what earlier runs have settled on, also those of a user who named the kind; nil
// when there was none.
func (p *Provider) settled() (*choice, error) {
	settled, err := readChoice(p.Dir)
	if settled != nil || err != nil {
		return settled, err
	}
	entries, err := os.ReadDir(p.Dir)
	switch why := "its data is here already"; {
	case errors.Is(err, os.ErrNotExist), err == nil && len(entries) == 0:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for an earlier cluster: %w", err)
	case p.Recorded(p.Dir):
		return &choice{cluster.InDocker, why}, nil
	default:
		return &choice{cluster.Embedded, why}, nil
	}
}

// runSettled goes on with what an earlier run has settled on: its applications are there.
func (p *Provider) runSettled(
	ctx context.Context, settled *choice, progress cluster.Progress, ready func(string),
) error {
	if settled.Kind == cluster.Embedded {
		return p.run(ctx, p.Embedded, settled, progress, ready)
	}
	err := p.run(ctx, p.Kind, settled, progress, ready)
	if err == nil || ctx.Err() != nil {
		return err
	}
	hint := "to start again without it: pipedeck down"
	if known := (*cluster.HintError)(nil); errors.As(err, &known) {
		hint = known.Hint + "; " + hint
	}
	return &cluster.HintError{Err: fmt.Errorf("this environment was made with kind: %w", err), Hint: hint}
}

// run runs one of the two; its line about itself reports why it is this one.
func (p *Provider) run(
	ctx context.Context, provider cluster.Provider, is *choice, progress cluster.Progress, ready func(string),
) error {
	p.mu.Lock()
	p.chosen = provider
	p.mu.Unlock()
	return provider.Run(ctx, progress, func(detail string) {
		if err := is.write(p.Dir); err != nil {
			p.Logger.Warn("the next start may choose another kind of cluster", "error", err)
		}
		ready(fmt.Sprintf("%s (auto chose %s: %s)", detail, is.Kind, is.Why))
	})
}

func (p *Provider) current() cluster.Provider {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chosen
}

// LoadImage implements cluster.Provider.
func (p *Provider) LoadImage(ctx context.Context, image cluster.Image) error {
	chosen := p.current()
	if chosen == nil {
		return errors.New("no cluster was chosen yet")
	}
	return chosen.LoadImage(ctx, image)
}

var _ cluster.ImageKeeper = (*Provider)(nil)

// HasImage implements cluster.ImageKeeper.
func (p *Provider) HasImage(references []string) bool {
	keeper, ok := p.current().(cluster.ImageKeeper)
	return !ok || keeper.HasImage(references)
}

// Delete removes what either has made. kind comes first: the embedded Kubernetes takes the
// directory with it, and so the record that kind needs.
func (p *Provider) Delete(ctx context.Context) error {
	if err := p.Kind.Delete(ctx); err != nil {
		return err
	}
	return p.Embedded.Delete(ctx)
}

// maxReason bounds in bytes what a line about something else says of a failure; the log has it whole.
const maxReason = 160

// digestRule is the part of an image's name that means nothing to a reader.
var digestRule = regexp.MustCompile(`@sha256:[0-9a-f]{64}`)

// short is an error in a part of a line.
func short(err error) string {
	return line.Cut(line.First(digestRule.ReplaceAllString(err.Error(), "")), maxReason)
}
