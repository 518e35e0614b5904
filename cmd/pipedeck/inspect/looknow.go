// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

const (
	// quietLook is how long a look lasts until the command says that it waits, sayAgain the time until it repeats that.
	quietLook = time.Second
	sayAgain  = 15 * time.Second
)

// lookNow has piped look at the live state of an application, and waits until it has.
func lookNow(ctx context.Context, s *session.Session, word resolve.Word) error {
	app, err := word.Application()
	if err != nil {
		return err
	}
	stop := sayWaiting(ctx, s.Err, "looking at the live state of "+text.Line(app.GetName()))
	answer, err := s.Deck.LookAtApplication(ctx, &deckv1.LookAtApplicationRequest{ApplicationId: app.GetId()})
	stop()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case status.Code(err) == codes.Unimplemented:
		return exit.With(exit.NotStarted, errors.New("the environment is of an older pipedeck, which does not look on "+
			"request"), "end it with pipedeck down, and start it again")
	case status.Code(err) == codes.FailedPrecondition:
		return exit.With(exit.Failed, errors.New(status.Convert(err).Message()), "see pipedeck status")
	case err != nil:
		return session.Unreachable(err)
	case answer.GetError() != "":
		return exit.With(exit.Failed, fmt.Errorf("piped cannot read the live state of %s: %s", text.Line(app.GetName()),
			text.Line(answer.GetError())), "see pipedeck status and pipedeck logs")
	}
	return nil
}

// sayWaiting says now and then that the command waits, from quietLook on and until stop is called.
func sayWaiting(ctx context.Context, w io.Writer, what string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		next := time.NewTimer(quietLook)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
				fmt.Fprintf(w, "%s (%s)\n", what, view.Ticking(time.Since(began)))
				next.Reset(sayAgain)
			}
		}
	}()
	return func() { cancel(); <-ended }
}
