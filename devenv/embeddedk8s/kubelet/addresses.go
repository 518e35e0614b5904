// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// podNetwork is where pods get their addresses from. Nothing answers there; EndpointSlices would refuse loopback
// addresses.
var podNetwork = netip.MustParsePrefix("10.244.0.0/16")

// addresses gives each pod a separate address. Its zero value is not usable: newAddresses.
type addresses struct {
	mu     sync.Mutex
	byPod  map[types.UID]netip.Addr
	taken  map[netip.Addr]types.UID
	latest netip.Addr
}

func newAddresses() *addresses {
	return &addresses{byPod: map[types.UID]netip.Addr{}, taken: map[netip.Addr]types.UID{}, latest: podNetwork.Addr()}
}

// of returns the pod's address: the one it has, else the one its status names if it is free, else the next free one.
func (a *addresses) of(pod types.UID, wanted string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, ok := a.byPod[pod]; ok {
		return address.String(), nil
	}
	if address, err := netip.ParseAddr(wanted); err == nil && podNetwork.Contains(address) && a.taken[address] == "" {
		a.take(pod, address)
		return wanted, nil
	}
	address := a.latest
	for range 1 << (32 - podNetwork.Bits()) {
		address = address.Next()
		if last := address.As4()[3]; last == 0 || last == 255 {
			continue
		}
		if !podNetwork.Contains(address) {
			address = podNetwork.Addr()
			continue
		}
		if a.taken[address] == "" {
			a.take(pod, address)
			a.latest = address
			return address.String(), nil
		}
	}
	return "", fmt.Errorf("%w in %s; delete some pods", errNoAddress, podNetwork)
}

func (a *addresses) take(pod types.UID, address netip.Addr) {
	a.byPod[pod] = address
	a.taken[address] = pod
}

// release gives the pod's address back. Unknown pods are fine.
func (a *addresses) release(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, ok := a.byPod[pod]; ok {
		delete(a.byPod, pod)
		delete(a.taken, address)
	}
}

var errNoAddress = errors.New("no free pod address")
