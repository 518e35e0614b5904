// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestKindsAreAskedForAgainAfterADefinitionChangedAndHardlyEverOtherwise(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &clienttesting.Fake{Resources: []*v1.APIResourceList{{GroupVersion: "v1"}}}
		known := newKinds(&fake.FakeDiscovery{Fake: server})
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go known.run(ctx)
		ask := func() []string {
			list, err := known.ServerGroups()
			require.NoError(t, err)
			var names []string
			for _, group := range list.Groups {
				names = append(names, group.Name)
			}
			return names
		}
		require.NotContains(t, ask(), "shop.example")

		server.Resources = append(server.Resources, &v1.APIResourceList{GroupVersion: "shop.example/v1"})
		time.Sleep(remoteKinds - time.Second)
		synctest.Wait()
		require.NotContains(t, ask(), "shop.example", "nothing said that a definition has changed")
		known.changed <- struct{}{}
		synctest.Wait()
		require.Contains(t, ask(), "shop.example")

		server.Resources = append(server.Resources, &v1.APIResourceList{GroupVersion: "slow.example/v1"})
		require.NotContains(t, ask(), "slow.example")
		time.Sleep(firstKindPause)
		synctest.Wait()
		require.Contains(t, ask(), "slow.example", "it was served after the change was seen")

		time.Sleep(time.Hour)
		synctest.Wait()
		ask()
		before := len(server.Actions())
		for range 50 { // seconds
			time.Sleep(time.Second)
			synctest.Wait()
			ask()
		}
		require.LessOrEqual(t, len(server.Actions())-before, 4, "one look, of a few requests")
	})
}
