// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// listen listens until the end of the test.
func listen(t *testing.T, network, address string) (port int) {
	t.Helper()
	listener, err := net.Listen(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

func TestAListenerBelongsToTheProcessThatHasIt(t *testing.T) {
	t.Parallel()
	port := listen(t, "tcp", "127.0.0.1:0")
	view, err := NewListeners().Look(&Process{PID: os.Getpid()})
	require.NoError(t, err)
	listener, own := view.Own(port, false)
	require.True(t, own)
	require.True(t, listener.Open())
	require.Contains(t, view.OwnPorts(), port)
	_, taken := view.Other(port)
	require.False(t, taken)

	view, err = NewListeners().Look(&Process{PID: os.Getppid()})
	require.NoError(t, err)
	_, own = view.Own(port, false)
	require.False(t, own)
	stranger, err := NewListeners().Look() // nothing is own
	require.NoError(t, err)
	_, own = stranger.Own(port, true)
	require.False(t, own)
	holder, taken := stranger.Other(port)
	require.True(t, taken)
	require.Equal(t, os.Getpid(), holder.PID)
	require.Equal(t, fmt.Sprintf("PID %d (%s)", holder.PID, holder.Name), holder.String())
	require.NotEmpty(t, holder.Name)
}

func TestAClosedListenerIsNotOpenAnyMore(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	view, err := NewListeners().Look(&Process{PID: os.Getpid()})
	require.NoError(t, err)
	found, own := view.Own(port, false)
	require.True(t, own)
	require.NoError(t, listener.Close())
	require.False(t, found.Open())
	view, err = NewListeners().Look(&Process{PID: os.Getpid()})
	require.NoError(t, err)
	_, own = view.Own(port, true)
	require.False(t, own)
	_, taken := view.Other(port)
	require.False(t, taken)
}

func TestListenersOfAllAddressesAreSeenAndOtherAddressesAreNot(t *testing.T) {
	t.Parallel()
	all, other := listen(t, "tcp", ":0"), listen(t, "tcp", "127.0.0.2:0")
	view, err := NewListeners().Look(&Process{PID: os.Getpid()})
	require.NoError(t, err)
	_, own := view.Own(all, false)
	require.True(t, own, "a listener at [::] also gets what comes to 127.0.0.1")
	_, own = view.Own(other, true)
	require.False(t, own)
}

func TestTheMostSpecificAddressGetsTheConnection(t *testing.T) {
	t.Parallel()
	view := &View{sockets: map[int][]socket{}, links: map[string]string{"socket:[1]": "own"}, thorough: true}
	view.add(socket{port: 80, inode: 2, specificity: 1})
	_, taken := view.Other(80)
	require.True(t, taken)
	view.add(socket{port: 80, inode: 1, specificity: 3})
	view.add(socket{port: 80, inode: 3, specificity: 2})
	listener, own := view.Own(80, true)
	require.True(t, own)
	require.Equal(t, Listener{Port: 80, link: "own", target: "socket:[1]"}, listener)
	view.add(socket{port: 80, inode: 4, specificity: 3}) // with SO_REUSEPORT
	_, own = view.Own(80, true)
	require.False(t, own, "connections go to either of the two")
}

func TestAListenerThatNoProcessShowsIsOwnWhenAnOwnProcessIsHidden(t *testing.T) {
	t.Parallel()
	view := &View{sockets: map[int][]socket{}, links: map[string]string{}, thorough: true}
	view.add(socket{port: 80, inode: 1, specificity: 3, user: os.Geteuid()}) // no process has a socket of this number
	_, own := view.Own(80, true)
	require.False(t, own)
	view.blind = true
	listener, own := view.Own(80, true)
	require.True(t, own)
	require.False(t, listener.Open(), "it is looked for again each time")
	view.add(socket{port: 81, inode: 1, specificity: 3, user: os.Geteuid() + 1})
	_, own = view.Own(81, true)
	require.False(t, own, "it belongs to another user")
}

func TestAHolderOfAnotherUserIsNamedByTheUser(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a process of user 70", Holder{User: 70}.String())
}
