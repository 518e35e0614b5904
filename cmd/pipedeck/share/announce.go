// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/clock"
)

// firstAnnouncement and lastAnnouncement bound the pause before the next announcement to the environment. One that has
// lived as long as the longest pause was taken, so that the pauses begin again.
const firstAnnouncement, lastAnnouncement = 100 * time.Millisecond, 2 * time.Second

// announce has the environment know what is served and how many watch, until ctx ends or the environment has gone. An
// environment of an older version does not know the service.
func (s *Share) announce(ctx context.Context, subject Subject, c clock.Clock) {
	pauses := clock.NewBackoff(firstAnnouncement, lastAnnouncement)
	for ctx.Err() == nil {
		lived, err := s.announceOnce(ctx, subject, c)
		if subject.Gone != nil && subject.Gone(err) || status.Code(err) == codes.Unimplemented {
			return
		}
		if lived >= lastAnnouncement { // a refused one ends before
			pauses.Reset()
		}
		if pauses.Wait(ctx, c) != nil {
			return
		}
	}
}

// announceOnce announces until the stream ends, and returns how long it has lived.
func (s *Share) announceOnce(ctx context.Context, subject Subject, c clock.Clock) (lived time.Duration, err error) {
	client, end, err := subject.Announce(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	began := c.Now()
	err = s.announceTo(ctx, client)
	return c.Now().Sub(began), err
}

// announceTo announces to one environment until it ends the stream, and returns why.
func (s *Share) announceTo(ctx context.Context, client deckv1.SharingServiceClient) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.AnnounceShares(ctx)
	if err != nil {
		return err
	}
	lost := make(chan error, 1)
	go func() { lost <- stream.RecvMsg(&deckv1.AnnounceSharesResponse{}) }() // it ends with the stream
	for {
		web, webChanged, ssh, sshChanged := s.counts()
		if stream.Send(s.announcement(web, ssh)) != nil { // the end of the stream says why
			return <-lost
		}
		select {
		case <-webChanged:
		case <-sshChanged:
		case err := <-lost:
			return err
		}
	}
}

// counts are how many watch, and what is closed when that changes; nil for what is not served.
func (s *Share) counts() (web int, webChanged <-chan struct{}, ssh int, sshChanged <-chan struct{}) {
	if s.web != nil {
		web, webChanged = s.web.Watching()
	}
	if s.ssh != nil {
		ssh, sshChanged = s.ssh.Watching()
	}
	return web, webChanged, ssh, sshChanged
}

// announcement is what the environment gets to know: nothing that lets anyone in.
func (s *Share) announcement(web, ssh int) *deckv1.AnnounceSharesRequest {
	watching := map[string]int{"web": web, "ssh": ssh}
	r := &deckv1.AnnounceSharesRequest{}
	for _, a := range s.Addresses() {
		r.Shares = append(r.Shares, &deckv1.Share{Part: a.Part, Address: a.Shown(), Watching: int32(watching[a.Part])})
	}
	return r
}
