// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"net/netip"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestAPodKeepsItsAddress(t *testing.T) {
	t.Parallel()
	addresses := newAddresses()
	kept, err := addresses.of("old", "10.244.0.1")
	require.NoError(t, err)
	require.Equal(t, "10.244.0.1", kept)

	fresh, err := addresses.of("new", "")
	require.NoError(t, err)
	require.NotEqual(t, kept, fresh)
	again, err := addresses.of("new", "")
	require.NoError(t, err)
	require.Equal(t, fresh, again)
}

func TestAnAddressThatIsTakenOrForeignIsNotKept(t *testing.T) {
	t.Parallel()
	addresses := newAddresses()
	first, err := addresses.of("first", "")
	require.NoError(t, err)
	for pod, wanted := range map[types.UID]string{"second": first, "third": "192.168.1.1", "fourth": "nonsense"} {
		address, err := addresses.of(pod, wanted)
		require.NoError(t, err)
		require.NotEqual(t, wanted, address)
		require.True(t, podNetwork.Contains(netip.MustParseAddr(address)), address)
	}
}

func TestAddressesRunOutWithAnErrorAndComeBack(t *testing.T) {
	t.Parallel()
	addresses := newAddresses()
	given := 0
	for {
		_, err := addresses.of(types.UID(strconv.Itoa(given)), "")
		if err != nil {
			require.ErrorIs(t, err, errNoAddress)
			break
		}
		given++
	}
	require.Equal(t, 256*254, given)
	addresses.release("7")
	_, err := addresses.of("late", "")
	require.NoError(t, err)
}
