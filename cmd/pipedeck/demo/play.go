// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Caption is what is shown of a step.
type Caption struct {
	// Text may be that of an earlier step.
	Text string
	// Step counts from 1 to Steps.
	Step, Steps int
	// Awaits is what the story waits for; empty when it waits for the viewer, or goes on by itself.
	Awaits string
	// Show is the pane that gets the focus, Application the name of the application there; empty for no change. Only
	// the first caption of a step has them.
	Show, Application string
	// Stage is selected there, in the newest deployment of the application: one of Commit, and not After, which is the
	// id of an older one. Each may be empty.
	Stage, Commit, After string
}

// Plugin is the source of a plugin.
type Plugin struct {
	// Dir is its directory, Work the file there with its stage.
	Dir, Work string
}

// Play plays a story once.
type Play struct {
	Story *story.Story
	Deck  deckv1.DeckServiceClient
	// Repository is the directory of the sample repository, Kubeconfig the file of the cluster.
	Repository, Kubeconfig string
	// Plugin was created for the story.
	Plugin    Plugin
	Commander string
	// Show shows a caption. It must not block for long.
	Show func(Caption)
	// Next gets a value when the viewer wants to go on; nil: the story goes on by itself. Fast: without time to read.
	Next  <-chan struct{}
	Fast  bool
	Clock clock.Clock

	// text is the caption on the screen.
	text string
	// commit is what awaited deployments have to be of; empty for any. before are the newest deployments, by the name
	// of their application, at the last sync or rollback, which do not count.
	commit string
	before map[string]string
	// saved are the files that the next commit takes.
	saved []string
}

// Run plays the story to its end.
func (p *Play) Run(ctx context.Context) error {
	for i, step := range p.Story.Steps {
		if err := p.step(ctx, i, step); err != nil {
			return err
		}
	}
	return nil
}

func (p *Play) step(ctx context.Context, i int, step story.Step) error {
	p.text = cmp.Or(step.Say, p.text)
	caption := Caption{Text: p.text, Step: i + 1, Steps: len(p.Story.Steps), Show: step.Show,
		Application: step.Application, Stage: step.Stage}
	if step.Stage != "" {
		caption.Commit, caption.After = p.commit, p.before[step.Application]
	}
	if step.Await != nil {
		caption.Awaits = awaited(*step.Await)
	}
	p.Show(caption)
	caption = Caption{Text: caption.Text, Step: caption.Step, Steps: caption.Steps, Awaits: caption.Awaits}
	shown := p.Clock.Now()
	if step.Await != nil {
		if err := p.await(ctx, *step.Await); err != nil {
			return p.failed(ctx, i, true, err)
		}
		caption.Awaits = ""
		p.Show(caption)
	}
	if step.Say != "" {
		if err := p.pause(ctx, shown); err != nil {
			return err
		}
	}
	if err := p.change(ctx, step); err != nil {
		return p.failed(ctx, i, false, err)
	}
	return nil
}

// failed is the error of a step. The end of ctx is no failure of the story.
func (p *Play) failed(ctx context.Context, i int, awaited bool, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	hint := "record it and see what happened before: --record FILE; correct the story if it is yours"
	if failure := (*exit.Error)(nil); errors.As(err, &failure) {
		hint = cmp.Or(failure.Hint, hint)
	}
	return exit.With(exit.Failed, fmt.Errorf("%s: step %d of %d failed: %w", p.Story.Place(i, awaited), i+1,
		len(p.Story.Steps), err), hint)
}

const (
	// A caption stays for readBase, and readRune more for each character.
	readBase = 1500 * time.Millisecond
	readRune = 50 * time.Millisecond
	// leastLook is the time for what has just happened, however long the caption has been there.
	leastLook = 2 * time.Second
	// fastLook is both with Fast: long enough to be drawn.
	fastLook = 500 * time.Millisecond
)

// pause gives the viewer time to read a caption that is there since shown.
func (p *Play) pause(ctx context.Context, shown time.Time) error {
	var over <-chan time.Time
	if p.Next == nil {
		over = p.Clock.After(p.reading(shown))
	}
	select {
	case <-over:
	case <-p.Next:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func (p *Play) reading(shown time.Time) time.Duration {
	if p.Fast {
		return fastLook
	}
	reading := readBase + time.Duration(utf8.RuneCountInString(p.text))*readRune
	return max(leastLook, reading-p.Clock.Now().Sub(shown))
}
