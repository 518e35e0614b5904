// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
	"github.com/pipedeck/pipedeck/system/chantest"
)

// announcedTo is the part of an environment that knows what is shared. Each call of connect is another connection.
func announcedTo(t *testing.T) (connect func() (client deckv1.SharingServiceClient, end func())) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	deckv1.RegisterSharingServiceServer(server, deckapi.NewShares())
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends by Stop
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	return func() (deckv1.SharingServiceClient, func()) {
		conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return deckv1.NewSharingServiceClient(conn), func() { _ = conn.Close() }
	}
}

func TestTheEnvironmentKnowsWhatIsSharedAndHowManyWatch(t *testing.T) {
	t.Parallel()
	client, _ := announcedTo(t)()
	shared := subject(t)
	shared.Announce = func(context.Context) (deckv1.SharingServiceClient, func(), error) {
		return client, func() {}, nil
	}
	flags, cmd := &Flags{}, &cobra.Command{}
	flags.Bind(cmd)
	require.NoError(t, cmd.ParseFlags([]string{"--serve-web", "--serve-ssh"}))
	s, err := flags.Start(t.Context(), shared)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	until := func(what string, holds func([]*deckv1.Share) bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			list, err := client.ListShares(t.Context(), &deckv1.ListSharesRequest{})
			require.NoError(t, err)
			return holds(list.GetShares())
		}, time.Minute, time.Millisecond, what)
	}
	until("both", func(shares []*deckv1.Share) bool {
		return len(shares) == 2 && shares[0].GetPart() == "web" && shares[1].GetPart() == "ssh" &&
			shares[0].GetAddress()+"#token="+s.web.Token() == s.Addresses()[0].Text &&
			strings.HasPrefix(shares[1].GetAddress(), "ssh -p ") && shares[0].GetWatching() == 0
	})
	stream := opened(t, s.Addresses()[0].Text, &http.Client{Transport: &http.Transport{}})
	until("one watches", func(shares []*deckv1.Share) bool {
		return shares[0].GetWatching() == 1 && shares[1].GetWatching() == 0
	})
	require.NoError(t, stream.Body.Close())
	until("no one watches", func(shares []*deckv1.Share) bool { return shares[0].GetWatching() == 0 })
	s.Close()
	until("nothing", func(shares []*deckv1.Share) bool { return len(shares) == 0 })
}

// byHand is a clock whose time passes when the test says so. It sends each pause that is asked for.
type byHand struct {
	pauses chan time.Duration
	passed chan time.Time
	now    atomic.Int64
}

func (b *byHand) After(d time.Duration) <-chan time.Time {
	b.pauses <- d
	return b.passed
}

func (b *byHand) Now() time.Time { return time.Unix(0, b.now.Load()) }

func TestAnnouncementsThatAreRefusedAreRepeatedLessAndLessOften(t *testing.T) {
	t.Parallel()
	connect := announcedTo(t)
	others, _ := connect()
	until := func(what string, holds func(shares []*deckv1.Share) bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			list, err := others.ListShares(t.Context(), &deckv1.ListSharesRequest{})
			require.NoError(t, err)
			return holds(list.GetShares())
		}, time.Minute, time.Millisecond, what)
	}
	const most = 64 // the environment refuses one more
	present, leave := context.WithCancel(t.Context())
	defer leave()
	for range most {
		stream, err := others.AnnounceShares(present)
		require.NoError(t, err)
		require.NoError(t, stream.Send(&deckv1.AnnounceSharesRequest{Shares: []*deckv1.Share{{Part: "ssh"}}}))
	}
	until("all others", func(shares []*deckv1.Share) bool { return len(shares) == most })

	c := &byHand{pauses: make(chan time.Duration, 1), passed: make(chan time.Time)}
	ctx, stop := context.WithCancel(t.Context())
	var lose atomic.Value // of the present connection
	var announcing sync.WaitGroup
	announcing.Go(func() {
		s := &Share{shared: []Address{{Part: "web", Text: "http://127.0.0.1:1"}}}
		s.announce(ctx, Subject{Announce: func(context.Context) (deckv1.SharingServiceClient, func(), error) {
			client, end := connect()
			lose.Store(end)
			return client, end, nil
		}}, c)
	})
	defer announcing.Wait()
	defer stop()
	pauses := func(ceiling time.Duration) {
		t.Helper()
		pause := chantest.Receive(t, c.pauses)
		require.Greater(t, pause, ceiling/2)
		require.LessOrEqual(t, pause, ceiling)
	}
	for _, ceiling := range []time.Duration{100, 200, 400, 800, 1600, 2000} {
		pauses(ceiling * time.Millisecond)
		c.passed <- time.Time{}
	}
	pauses(lastAnnouncement)

	leave()
	isWeb := func(share *deckv1.Share) bool { return share.GetPart() == "web" }
	until("no others", func(shares []*deckv1.Share) bool { return len(shares) == 0 })
	for _, life := range []struct{ time, pause time.Duration }{
		{lastAnnouncement, firstAnnouncement}, {lastAnnouncement - 1, 2 * firstAnnouncement},
	} {
		c.passed <- time.Time{}
		until("the announcement", func(shares []*deckv1.Share) bool { return slices.ContainsFunc(shares, isWeb) })
		c.now.Add(int64(life.time))
		lose.Load().(func())()
		pauses(life.pause)
		until("its end", func(shares []*deckv1.Share) bool { return !slices.ContainsFunc(shares, isWeb) })
	}
}
