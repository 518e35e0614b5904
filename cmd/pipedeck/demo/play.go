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

// Plugin is the source of a plugin.
type Plugin struct {
	// Dir is its directory, Work the file there with its stage.
	Dir, Work string
}

// Play plays a story once.
type Play struct {
	Story *story.Story
	// Deck also shows the captions, to all who watch the environment.
	Deck deckv1.DeckServiceClient
	// Repository is the directory of the sample repository, Kubeconfig the file of the cluster.
	Repository, Kubeconfig string
	// Plugin was created for the story.
	Plugin    Plugin
	Commander string
	// Next gets a value when the viewer wants to go on; nil: the story goes on by itself. Fast: without time to read.
	Next  <-chan struct{}
	Fast  bool
	Clock clock.Clock

	// text is the caption of the present step, shown the last one that was shown, focus what is shown with it.
	text, shown string
	focus       *deckv1.CaptionFocus
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
	if step.Show != "" {
		p.focus = &deckv1.CaptionFocus{Step: int32(i + 1), Pane: step.Show, Application: step.Application,
			Stage: step.Stage}
	}
	if step.Show != "" && step.Stage != "" {
		p.focus.Commit, p.focus.AfterDeploymentId = p.commit, p.before[step.Application]
	}
	awaits := ""
	if step.Await != nil {
		awaits = awaited(*step.Await)
	}
	if err := p.show(ctx, i, awaits); err != nil {
		return p.failed(ctx, i, false, err)
	}
	shown := p.Clock.Now()
	if step.Await != nil {
		if err := p.await(ctx, *step.Await); err != nil {
			return p.failed(ctx, i, true, err)
		}
		if err := p.show(ctx, i, ""); err != nil {
			return p.failed(ctx, i, false, err)
		}
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

// show shows the caption of a step to all who watch.
func (p *Play) show(ctx context.Context, i int, awaits string) error {
	_, err := p.Deck.ShowCaption(ctx, &deckv1.ShowCaptionRequest{Caption: &deckv1.Caption{
		Text: p.text, Step: int32(i + 1), Steps: int32(len(p.Story.Steps)), Awaits: awaits, Focus: p.focus,
	}})
	if err != nil {
		return refused(err, "show the caption")
	}
	p.shown = p.text
	return nil
}

// Shown is the caption that was shown last; empty before the first.
func (p *Play) Shown() string { return p.shown }

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
