// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// The time from the start on in which a plugin may begin to listen, and how often its sockets are looked at.
const (
	listenTime  = 3 * time.Second
	listenEvery = 50 * time.Millisecond
)

// listensOnLoopback looks at the sockets of a separate start, with a stage in it, and then at those of the shared
// session, in which other cases ask for more.
func listensOnLoopback(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	if !observable {
		return skip("the sockets of a process are seen on Linux alone")
	}
	began := time.Now()
	own, err := p.start(setup{})
	if err != nil {
		return err
	}
	seen := watchListeners(own, p)
	_, err = own.execute(p, order{}) // its end has other cases
	p.pause(listenTime - time.Since(began))
	found := seen()
	if err != nil {
		return err
	}
	found = append(found, listeners(x.process.mark)...)
	for _, address := range found {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err == nil && ip != nil && !ip.IsLoopback() {
			return fmt.Errorf("it listens on %s, which other machines can reach", address)
		}
	}
	p.saw("%s", strings.Join(found, ", "))
	return nil
}

// watchListeners looks at the sockets until the result is called, which returns what was seen.
func watchListeners(x *session, p *probe) (found func() []string) {
	var all []string
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(listenEvery)
		defer ticker.Stop()
		for {
			all = append(all, listeners(x.process.mark)...)
			slices.Sort(all)
			all = slices.Compact(all)
			select {
			case <-ticker.C:
			case <-stop:
				return
			case <-p.ctx.Done():
				return
			}
		}
	})
	return func() []string {
		close(stop)
		watching.Wait()
		return all
	}
}
