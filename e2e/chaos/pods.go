// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// service makes the pods of the rollouts answer at an address of this machine.
const service = `apiVersion: v1
kind: Service
metadata: {name: rollout}
spec: {selector: {app: rollout}, ports: [{name: http, port: 80, targetPort: http}]}
`

// podProgram runs in these pods, as processes of this machine. It starts a child with its own session, which outlives
// it, and which no signal but SIGKILL ends.
const podProgram = `package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) > 1 {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		<-make(chan os.Signal)
	}
	child := exec.Command(os.Args[0], "` + podChild + `")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	panic(http.ListenAndServe(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), nil))
}
`

const (
	// podChild is the argument of that child.
	podChild = "child-of-a-pod"
	// podPrograms is in the paths of the programs that pods run.
	podPrograms = "/programs/"
)

// podProcess is the process of a container, 0 when there is none.
func (e *environment) podProcess() (int, error) {
	lines, err := e.processes(context.Background(), nil)
	for _, line := range lines {
		fields := strings.Fields(line) // process id, state, command
		if strings.Contains(fields[2], podPrograms) && !strings.HasSuffix(line, podChild) {
			return number(fields[0]), err
		}
	}
	return 0, err
}

// podsAnswer waits until the address of the rollouts answers.
func (e *environment) podsAnswer(ctx context.Context) error {
	if slices.Contains(e.flags, "none") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := e.askPods(ctx)
		if err == nil || pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

func (e *environment) askPods(ctx context.Context) error {
	address, stderr, code, err := e.pipedeck(ctx, "open", appRollout)
	if err != nil {
		return err
	}
	if code != 0 {
		return fmt.Errorf("pipedeck open %s ended with %d: %s", appRollout, code, stderr)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(address), nil)
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", strings.TrimSpace(address), response.Status)
	}
	return nil
}
