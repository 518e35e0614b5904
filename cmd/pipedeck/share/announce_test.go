// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
)

// announcedTo is the part of an environment that knows what is shared.
func announcedTo(t *testing.T) deckv1.SharingServiceClient {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	deckv1.RegisterSharingServiceServer(server, deckapi.NewShares())
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends by Stop
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		serving.Wait()
	})
	return deckv1.NewSharingServiceClient(conn)
}

func TestTheEnvironmentKnowsWhatIsSharedAndHowManyWatch(t *testing.T) {
	t.Parallel()
	client := announcedTo(t)
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
