// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package film

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/asciicast"
	"github.com/pipedeck/pipedeck/tui/picture"
)

// Bounds of a terminal: the UI says below that it is too small, and above no one has such a screen.
const (
	LeastColumns, MostColumns = 40, 500
	LeastRows, MostRows       = 10, 200
)

// frame is the least time between two screens, so that a player need not draw more often.
const frame = 50 * time.Millisecond

// Options say how a session is shown.
type Options struct {
	// Deck answers for the session: a client of the server of the same reel.
	Deck deckv1.DeckServiceClient
	// Name and Version are for the header of the UI.
	Name, Version string
	// Environ chooses theme, signs and size as for the UI, each "NAME=value".
	Environ       []string
	Columns, Rows int
	// Speed is a multiple of the time of the session, above 0.
	Speed float64
	// Idle bounds the time between two screens of a recording; 0 for no bound.
	Idle time.Duration
	// Until is where a picture is taken and a recording ends, since the beginning; negative for the end.
	Until time.Duration
}

// Picture draws the screen at Until as SVG.
func Picture(ctx context.Context, reel *player.Reel, o Options) (svg string, err error) {
	terminal := picture.Dark(o.Columns, o.Rows)
	screen := ""
	light, err := play(ctx, reel, o, func(_ time.Duration, now string) error {
		screen = now
		return nil
	})
	if light {
		terminal = picture.Light(o.Columns, o.Rows)
	}
	return picture.SVG(screen, o.Name, terminal), err
}

// Cast writes a recording of the terminal as asciicast v2.
func Cast(ctx context.Context, reel *player.Reel, o Options, to io.Writer) error {
	out, err := asciicast.NewWriter(to, asciicast.Header{Width: o.Columns, Height: o.Rows, Title: o.Name,
		Began: reel.Time(reel.Begin())})
	if err != nil {
		return fmt.Errorf("write the recording of the terminal: %w", err)
	}
	var at, last time.Duration
	_, err = play(ctx, reel, o, func(now time.Duration, screen string) error {
		pause := time.Duration(float64(now-last) / o.Speed)
		if o.Idle > 0 {
			pause = min(pause, o.Idle)
		}
		at, last = at+pause, now
		return out.Frame(at, screen)
	})
	if err == nil {
		err = out.End(at)
	}
	return err
}

// play shows a session from its beginning, and calls show with every other screen and its time since then; at least
// with the first and the last one. light says that the terminal is a light one.
func play(ctx context.Context, reel *player.Reel, o Options, show func(time.Duration, string) error) (light bool,
	err error) {
	begin, end := reel.Begin(), reel.End()
	if o.Until >= 0 {
		end = min(end, begin+o.Until)
	}
	ui, err := app.NewFilm(ctx, app.Config{
		Client: func(context.Context) (deckv1.DeckServiceClient, error) { return o.Deck, nil },
		Name:   o.Name, Version: o.Version, Commander: "you", Environ: o.Environ,
	}, o.Columns, o.Rows, reel.Time(begin), reel)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, ui.Close()) }()
	step, shown := time.Duration(float64(frame)*o.Speed), ""
	for at := begin; ; at = min(end, max(at+step, next(reel, ui, end))) {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if err := ui.Show(reel.Time(at), reel.Advance(at)); err != nil {
			return false, err
		}
		if screen := ui.Screen(); screen != shown || at == end {
			shown = screen
			if err := show(at-begin, screen); err != nil {
				return false, err
			}
		}
		if at >= end {
			return ui.Light(), nil
		}
	}
}

// next is the time at which something happens in the session or on the screen, at most end.
func next(reel *player.Reel, ui *app.Film, end time.Duration) time.Duration {
	if record, more := reel.Next(); more {
		end = min(end, record)
	}
	if due, more := ui.Next(); more {
		end = min(end, due.Sub(reel.Time(0)))
	}
	return end
}
