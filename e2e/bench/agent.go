// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// agent is the running piped, seen from outside.
type agent struct {
	pid int
	// address is where it answers operators.
	address string
}

var (
	pidIn   = regexp.MustCompile(`pid (\d+)`)
	adminIn = regexp.MustCompile(`msg="piped started".* admin=(\S+)`)
)

// awaitAgent waits until piped is connected, and finds it by what pipedeck prints and by its log.
func awaitAgent(s *session, state string) (*agent, error) {
	ready, err := s.await("piped is connected", component("piped", "READY"))
	if err != nil {
		return nil, err
	}
	pid := pidIn.FindStringSubmatch(ready.Text("detail"))
	if pid == nil {
		return nil, fmt.Errorf("no process id in %q", ready.Text("detail"))
	}
	log, err := os.ReadFile(filepath.Join(state, "default", "logs", "piped.log"))
	if err != nil {
		return nil, err
	}
	address := adminIn.FindSubmatch(log)
	if address == nil {
		return nil, errors.New("no administration address in the log of piped")
	}
	a := &agent{address: string(address[1])}
	a.pid, err = strconv.Atoi(pid[1])
	return a, err
}

// goroutines asks piped's own metrics.
func (a *agent) goroutines(ctx context.Context) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	// Without this the connection that is kept for the next question would itself be counted.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(io.LimitReader(response.Body, 16<<20))
	for lines.Scan() {
		// Labels, which are constant, stand between the name and the value.
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && strings.HasPrefix(fields[0], "go_goroutines") {
			return strconv.Atoi(fields[len(fields)-1])
		}
	}
	return 0, errors.Join(errors.New("piped's metrics have no go_goroutines"), lines.Err())
}

// fewestGoroutines is the least that was seen while nothing was asked of piped for the given time.
func (a *agent) fewestGoroutines(ctx context.Context, during time.Duration) (int, error) {
	least := 0
	ticker := time.NewTicker(during / 10)
	defer ticker.Stop()
	for range 10 {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-ticker.C:
		}
		n, err := a.goroutines(ctx)
		if err != nil {
			return 0, err
		}
		if least == 0 || n < least {
			least = n
		}
	}
	return least, nil
}
