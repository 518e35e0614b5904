// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/demo"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/reader"
)

// demonstration is a story with the environment that it is played on.
type demonstration struct {
	*Setup
	story *story.Story
	// plugin is created for the story.
	plugin    storyPlugin
	workspace *workspace.Workspace
	// auto: no key is needed to go on; fast: without time to read.
	auto, fast bool
}

// run plays the story, and removes the environment however it ends.
func (d *demonstration) run(ctx context.Context, look *look) error {
	given, err := d.plugin.create(ctx, d.workspace)
	if given != "" {
		d.Flags.AddPlugin(given)
	}
	switch {
	case err != nil:
	case d.Mode == outputTUI:
		return d.onScreen(ctx, look)
	default:
		err = d.host(ctx, d.inLines)
	}
	if !d.began {
		if exists, existsErr := d.workspace.Exists(); existsErr == nil && exists {
			err = errors.Join(err, discard(d.workspace))
		}
	}
	return err
}

// play is the story on the environment.
func (d *demonstration) play(deck deckv1.DeckServiceClient, next <-chan struct{}) *demo.Play {
	w := d.workspace
	return &demo.Play{Story: d.story, Deck: deck, Repository: w.SampleRepository(),
		Kubeconfig: w.Kubeconfig(workspace.TargetName), Plugin: d.plugin.source(w), Commander: session.Commander(),
		Next: next, Fast: d.fast, Clock: clock.System{}}
}

// inLines prints the captions and what happens.
func (d *demonstration) inLines(ctx context.Context, deck deckv1.DeckServiceClient) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	followed, printed := make(chan error, 1), make(chan string, story.MaxSteps)
	go func() {
		followed <- follow(ctx, deck, d.Mode, d.Out, reader.Options{Flags: d.Target.Flags(),
			OnChange: func(c reader.Change) {
				if c.Kind == reader.Story {
					printed <- c.Caption.GetText()
				}
			}})
		stop() // nothing can be shown any more
	}()
	played := d.play(deck, nil)
	err := played.Run(ctx)
	awaitPrinted(ctx, printed, played.Shown())
	d.recording.end()
	stop()
	shown := <-followed
	stopped := errors.Is(err, context.Canceled) || status.Code(err) == codes.Unavailable
	if stopped && shown != nil && !errors.Is(shown, context.Canceled) {
		return cmp.Or(endedEarly(shown), shown)
	}
	return err
}

// awaitPrinted waits until a caption was printed, also that of a step that fails at once.
func awaitPrinted(ctx context.Context, printed <-chan string, caption string) {
	for said := ""; said != caption; {
		select {
		case said = <-printed:
		case <-ctx.Done():
			return
		}
	}
}

// endedEarly is the error of a story whose environment has ended before it; nil for other errors.
func endedEarly(err error) error {
	if !errors.Is(err, reader.ErrEnded) {
		return nil
	}
	return exit.With(exit.Failed, errors.New("the environment has ended before the story"), "play it again")
}

// reason is why a story has ended with err. An environment that ends answers only that it stops, and then says why.
func (h *host) reason(ctx context.Context, err error) error {
	if status.Code(err) != codes.Unavailable {
		return err
	}
	return cmp.Or(h.end(ctx), err)
}

// end is why the environment has ended; nil while it has not.
func (h *host) end(ctx context.Context) error {
	h.awaitEnd(ctx)
	select {
	case <-h.ended:
		return cmp.Or(h.err, endedEarly(reader.ErrEnded))
	default:
		return nil
	}
}

// onScreen shows the UI while the story is played.
func (d *demonstration) onScreen(ctx context.Context, look *look) (err error) {
	w := d.workspace
	// This process holds the leash to its end, so that the environment of a story never outlives it.
	leash, held, err := os.Pipe()
	if err != nil {
		return err
	}
	var h *host
	defer func() {
		if exists, existsErr := w.Exists(); existsErr == nil && exists {
			// The repository holds only what the story has written there.
			err = errors.Join(err, endAndRemove(context.WithoutCancel(ctx), w, d.Err))
		}
		err = errors.Join(err, held.Close())
		h.awaitEnd(context.WithoutCancel(ctx))
	}()
	command, err := d.Flags.restart(nil)
	if err != nil {
		return errors.Join(err, leash.Close())
	}
	command.Arguments = append([]string{"--keep=false", leashFlag}, command.Arguments...)
	h, err = startHost(w, command, leash)
	if err = errors.Join(err, leash.Close()); err != nil {
		return err
	}
	return d.watch(ctx, look, h)
}

// watch shows the UI until the story has ended, the user leaves, or the environment ends.
func (d *demonstration) watch(ctx context.Context, look *look, h *host) error {
	ctx, stop := context.WithCancelCause(ctx)
	var playing sync.WaitGroup
	defer playing.Wait()
	defer stop(nil)
	playing.Go(func() {
		select {
		case <-h.ended:
			if h.err != nil {
				stop(h.err)
			}
		case <-ctx.Done():
		}
	})
	next := make(chan struct{}, 1)
	var once sync.Once
	connection := &connection{workspace: d.workspace, host: h, recording: look.recording, connected: func() {
		once.Do(func() { playing.Go(func() { stop(h.reason(ctx, d.accompany(ctx, next))) }) })
	}}
	defer connection.close()
	settings := look.config(d.workspace, connection)
	settings.Guide = &app.Guide{}
	if !d.auto {
		settings.Guide.Next = func() {
			select {
			case next <- struct{}{}:
			default: // it goes on already
			}
		}
	}
	outcome, err := app.Run(ctx, settings)
	look.recording.end()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStoryEnded):
		return nil
	case err != nil:
		return keepPanic(d.workspace, err)
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause
	case outcome == app.EnvironmentGone:
		if err := h.end(ctx); err != nil {
			return err
		}
	}
	return exit.Silent(exit.Interrupted) // the user has left
}

// errStoryEnded is why the UI ends after a story that went well.
var errStoryEnded = errors.New("the story has ended")

// accompany plays the story next to the UI. It never returns nil.
func (d *demonstration) accompany(ctx context.Context, next <-chan struct{}) error {
	deck, conn, err := session.Dial(ctx, d.workspace)
	if err != nil {
		return err
	}
	defer conn.Close()
	if d.auto {
		next = nil
	}
	if err := d.play(deck, next).Run(ctx); err != nil {
		return err
	}
	return errStoryEnded
}
