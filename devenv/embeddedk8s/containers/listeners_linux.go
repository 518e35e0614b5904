// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// View is who listens at one moment. It finds out only what it is asked. It is used by one goroutine at a time.
type View struct {
	own     []*Process
	sockets map[int][]socket // the most specific ones of each port
	// links are the descriptors of the own processes by the names of their sockets.
	links    map[string]string
	thorough bool // links are those of all processes of own, not only of the first ones
	// blind is set when the descriptors of an own process are not shown, as is so with programs that have capabilities
	// of their files: then what no visible process has, and this user does, is taken for own.
	blind bool
}

// Look returns who listens now. Own are the processes whose listeners are to be told from others.
func (l *Listeners) Look(own ...*Process) (*View, error) {
	if !l.shown {
		return nil, ErrUnmeasured
	}
	view := &View{own: own, sockets: map[int][]socket{}}
	for file, specificities := range socketTables {
		sockets, err := readSockets(file, specificities)
		if err != nil {
			return nil, err
		}
		for _, s := range sockets {
			view.add(s)
		}
	}
	return view, nil
}

// add keeps the socket if a connection to 127.0.0.1 comes to it: the most specific address gets it.
func (v *View) add(s socket) {
	there := v.sockets[s.port]
	switch {
	case len(there) == 0 || there[0].specificity == s.specificity:
		v.sockets[s.port] = append(there, s)
	case there[0].specificity < s.specificity:
		v.sockets[s.port] = []socket{s}
	}
}

// Own returns the listener of an own process at a port of 127.0.0.1; false when others share it. Unless it is thorough
// it looks at the first processes only, which is much faster.
func (v *View) Own(port int, thorough bool) (Listener, bool) {
	sockets := v.sockets[port]
	if len(sockets) == 0 {
		return Listener{}, false
	}
	if v.links == nil {
		v.links = map[string]string{}
		for _, p := range v.own {
			v.addLinks(p.PID)
		}
	}
	if !v.hasAll(sockets) && thorough {
		v.lookThoroughly()
	}
	if !v.hasAll(sockets) {
		return Listener{}, false
	}
	target := sockets[0].target()
	return Listener{Port: port, link: v.links[target], target: target}, true
}

func (v *View) hasAll(sockets []socket) bool {
	return !slices.ContainsFunc(sockets, func(s socket) bool {
		return v.links[s.target()] == "" && !(v.blind && s.user == os.Geteuid() && s.holder().PID == 0)
	})
}

func (v *View) lookThoroughly() {
	if v.thorough {
		return
	}
	v.thorough = true
	if v.links == nil {
		v.links = map[string]string{}
	}
	for _, pid := range membersOf(v.own) {
		v.addLinks(pid)
	}
}

func (v *View) addLinks(pid int) {
	links, err := socketsOf(pid)
	maps.Copy(v.links, links)
	v.blind = v.blind || errors.Is(err, fs.ErrPermission)
}

// OwnPorts are the ports at which own processes listen, in their order.
func (v *View) OwnPorts() []int {
	v.lookThoroughly()
	var ports []int
	for port := range v.sockets {
		if _, own := v.Own(port, true); own {
			ports = append(ports, port)
		}
	}
	slices.Sort(ports)
	return ports
}

// Other returns who listens at a port of 127.0.0.1 and is no own process.
func (v *View) Other(port int) (Holder, bool) {
	if _, own := v.Own(port, true); own {
		return Holder{}, false
	}
	for _, s := range v.sockets[port] {
		if v.links[s.target()] == "" {
			return s.holder(), true
		}
	}
	return Holder{}, false
}

// socket is one at which a process listens.
type socket struct {
	port, user int
	inode      uint64
	// specificity orders the addresses by which a connection to 127.0.0.1 comes in.
	specificity int
}

// target is how descriptors in /proc name the socket.
func (s socket) target() string { return "socket:[" + strconv.FormatUint(s.inode, 10) + "]" }

// holder finds the process that has the socket.
func (s socket) holder() Holder {
	target := s.target()
	for _, pid := range processes() {
		if links, _ := socketsOf(pid); links[target] == "" {
			continue
		}
		name, _ := os.ReadFile(procFile(pid, "comm"))
		return Holder{PID: pid, Name: strings.TrimSpace(string(name)), User: s.user}
	}
	return Holder{User: s.user}
}

// socketTables are the files of sockets, with the addresses at which 127.0.0.1 is reached, as the kernel writes them on
// machines of either byte order.
var socketTables = map[string]map[string]int{
	"/proc/net/tcp": {"0100007F": 3, "7F000001": 3, "00000000": 2},
	"/proc/net/tcp6": {
		"0000000000000000FFFF00000100007F": 3, "00000000000000000000FFFF7F000001": 3,
		"00000000000000000000000000000000": 1,
	},
}

// Fields of a line of such a file.
const (
	socketLocal  = 1
	socketState  = 3
	socketUser   = 7
	socketInode  = 9
	stateListens = "0A"
)

// readSockets reads the sockets that listen. The kernel writes them before all others, which are not read.
func readSockets(name string, specificities map[string]int) (all []socket, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // without IPv6
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for listeners: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the names of the fields
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) <= socketInode || fields[socketState] != stateListens {
			break
		}
		address, port, _ := strings.Cut(fields[socketLocal], ":")
		specificity, reached := specificities[address]
		number, portErr := strconv.ParseUint(port, 16, 16)
		user, userErr := strconv.Atoi(fields[socketUser])
		inode, inodeErr := strconv.ParseUint(fields[socketInode], 10, 64)
		if reached && cmp.Or(portErr, userErr, inodeErr) == nil {
			all = append(all, socket{port: int(number), user: user, inode: inode, specificity: specificity})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("look for listeners: %w", err)
	}
	return all, nil
}

// socketsOf are the descriptors of a process by the names of their sockets. The error is fs.ErrPermission for processes
// of other users.
func socketsOf(pid int) (map[string]string, error) {
	dir := procFile(pid, "fd")
	entries, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer entries.Close()
	names, _ := entries.Readdirnames(-1)
	links := map[string]string{}
	for _, name := range names {
		link := filepath.Join(dir, name)
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "socket:[") {
			links[target] = link
		}
	}
	return links, nil
}

func procFile(pid int, name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }
