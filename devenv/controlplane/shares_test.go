// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestSharesAreListedAsLongAsTheirProcessSaysSo(t *testing.T) {
	t.Parallel()
	p := start(t)
	client := deckv1.NewSharingServiceClient(p.userConn)
	lists := func(addresses ...string) {
		t.Helper()
		var found []string
		require.Eventually(t, func() bool {
			list, err := client.ListShares(testContext(t), &deckv1.ListSharesRequest{})
			require.NoError(t, err)
			found = nil
			for _, share := range list.GetShares() {
				found = append(found, share.GetAddress())
			}
			return slices.Equal(found, addresses)
		}, time.Minute, time.Millisecond, "%v", addresses)
	}
	announce := func(addresses ...string) (say func(...string), end func()) {
		ctx, cancel := context.WithCancel(testContext(t))
		t.Cleanup(cancel)
		stream, err := client.AnnounceShares(ctx)
		require.NoError(t, err)
		say = func(addresses ...string) {
			r := &deckv1.AnnounceSharesRequest{}
			for _, address := range addresses {
				r.Shares = append(r.Shares, &deckv1.Share{Part: "web", Address: address, Watching: 1})
			}
			require.NoError(t, stream.Send(r))
		}
		say(addresses...)
		return say, cancel
	}
	_, endFirst := announce("a", "b")
	lists("a", "b")
	say, endSecond := announce("c")
	lists("a", "b", "c")
	say("d")
	lists("a", "b", "d")
	endFirst()
	lists("d")
	endSecond()
	lists()

	stream, err := client.AnnounceShares(testContext(t))
	require.NoError(t, err)
	require.NoError(t, stream.Send(&deckv1.AnnounceSharesRequest{Shares: make([]*deckv1.Share, 9)}))
	requireCode(t, codes.InvalidArgument, stream.RecvMsg(&deckv1.AnnounceSharesResponse{}))
	_, err = deckv1.NewSharingServiceClient(p.pipedConn).ListShares(testContext(t), &deckv1.ListSharesRequest{})
	requireCode(t, codes.Unauthenticated, err)
}

func TestTooManyProcessesThatShareAreRefused(t *testing.T) {
	t.Parallel()
	p := start(t)
	client := deckv1.NewSharingServiceClient(p.userConn)
	for range 64 {
		stream, err := client.AnnounceShares(testContext(t))
		require.NoError(t, err)
		require.NoError(t, stream.Send(&deckv1.AnnounceSharesRequest{Shares: []*deckv1.Share{{Part: "ssh"}}}))
	}
	require.Eventually(t, func() bool {
		list, err := client.ListShares(testContext(t), &deckv1.ListSharesRequest{})
		require.NoError(t, err)
		return len(list.GetShares()) == 64
	}, time.Minute, time.Millisecond)
	stream, err := client.AnnounceShares(testContext(t))
	require.NoError(t, err)
	requireCode(t, codes.ResourceExhausted, stream.RecvMsg(&deckv1.AnnounceSharesResponse{}))
}
