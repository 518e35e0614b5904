// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// liveScale is how much is done for the figures of live states.
type liveScale struct {
	objects, edits int
	idle           time.Duration
}

func (s *liveScale) register(flags *flag.FlagSet) {
	flags.IntVar(&s.objects, "live-objects", 2000, "ConfigMaps of the application whose live state is measured")
	flags.IntVar(&s.edits, "live-edits", 20, "edits by hand, one after the other")
	flags.DurationVar(&s.idle, "live-idle", 30*time.Second, "how long the live state is left alone")
}

func (s *liveScale) validate() error {
	if s.objects < 1 || s.edits < 1 || s.idle <= 0 {
		return errors.New("-live-objects and -live-edits must be at least 1, -live-idle more than 0")
	}
	return nil
}

var (
	driftLimit    = limit{"max", 1000} // ms
	liveIdleLimit = limit{"max", 2}    // % of a core
)

// apart is between two edits.
const apart = time.Second

// perFile is how many documents one file of the application has.
const perFile = 100

// benchLive measures what watching many objects costs while nothing changes, and how soon an edit by hand shows.
func benchLive(ctx context.Context, bin, dir string, size liveScale) error {
	repo := filepath.Join(dir, "repository")
	if err := makeLive(repo, size.objects); err != nil {
		return err
	}
	state := filepath.Join(dir, "state")
	s, err := start(ctx, bin, state, repo, "--cluster", "embedded", "--keep=false")
	if err != nil {
		return err
	}
	l := &live{session: s, size: size, kubeconfig: filepath.Join(state, "default", "kubeconfig")}
	return errors.Join(l.measure(ctx, state), s.stop())
}

func makeLive(dir string, objects int) error {
	if err := os.MkdirAll(filepath.Join(dir, "live"), 0o755); err != nil {
		return err
	}
	files := map[string]*strings.Builder{"app.pipecd.yaml": {}}
	files["app.pipecd.yaml"].WriteString(strings.Replace(quickApp, "name: quick", "name: live", 1))
	for i := range objects {
		name := fmt.Sprintf("conf-%02d.yaml", i/perFile)
		if files[name] == nil {
			files[name] = &strings.Builder{}
		}
		fmt.Fprintf(files[name], "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: live-%d}\n"+
			"data: {round: \"0\", text: %s}\n", i, strings.Repeat("x", 200))
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "live", name), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return initRepository(dir)
}

type live struct {
	session    *session
	size       liveScale
	kubeconfig string
	// plugin is the process of the plugin.
	plugin int
}

func (l *live) measure(ctx context.Context, state string) error {
	agent, err := awaitAgent(l.session, state)
	if err != nil {
		return err
	}
	synced, err := l.session.await("the application is in sync", l.matches("SYNCED", ""))
	if err != nil {
		return err
	}
	number(fmt.Sprintf("%d objects: up -> deployed and in sync", l.size.objects), "s",
		synced.At.Sub(l.session.began).Seconds())
	if l.plugin == 0 {
		return errors.New("the process of the plugin was not reported")
	}
	if err := l.edits(ctx); err != nil {
		return err
	}
	if err := l.session.pass(quiet); err != nil {
		return err
	}
	return l.idle(agent)
}

// matches selects news of the application; it notes the plugin's process on the way.
func (l *live) matches(sync, reason string) func(event) bool {
	return func(e event) bool {
		if pid, ok := e.Fields["pid"].(float64); ok && pid > 0 && e.Text("type") == "plugin" &&
			e.Text("name") == "kubernetes" {
			l.plugin = int(pid)
		}
		return e.Text("type") == "application" && e.Text("sync") == sync && strings.Contains(e.Text("reason"), reason)
	}
}

// edits changes one object after the other by hand and takes the change back.
func (l *live) edits(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	edit := func(name, value string) error {
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1",
			Resource: "configmaps"}).Namespace("default").Patch(ctx, name,
			types.MergePatchType, []byte(`{"data":{"round":"`+value+`"}}`), metav1.PatchOptions{FieldManager: "editor"})
		return err
	}
	var shown, restored []time.Duration
	for i := range l.size.edits {
		// Looks at one application keep a distance, which is that of a flood of changes and not of an edit.
		if err := l.session.pass(apart); err != nil {
			return err
		}
		name, value := fmt.Sprintf("live-%d", rand.IntN(l.size.objects)), fmt.Sprint(i+1)
		began := time.Now()
		if err := edit(name, value); err != nil {
			return err
		}
		e, err := l.session.await("the edit shows", l.matches("OUT_OF_SYNC",
			fmt.Sprintf("%s\n  data.round: \"0\" in Git, %q live", name, value)))
		if err != nil {
			return err
		}
		shown = append(shown, e.At.Sub(began))
		began = time.Now()
		if err := edit(name, "0"); err != nil {
			return err
		}
		if e, err = l.session.await("what was edited back is in sync", l.matches("SYNCED", "")); err != nil {
			return err
		}
		restored = append(restored, e.At.Sub(began))
	}
	figures(fmt.Sprintf("edit by hand of one of %d objects -> drift", l.size.objects), shown, driftLimit)
	figures("the edit taken back -> in sync", restored)
	return nil
}

// idle looks at the agent and its plugins while nothing changes.
func (l *live) idle(agent *agent) error {
	before, err := cpuOf(agent.pid)
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("idle CPU and memory: this system does not report them")
		return nil
	}
	if err != nil {
		return err
	}
	began := time.Now()
	if err := l.session.pass(l.size.idle); err != nil {
		return err
	}
	after, err := cpuOf(agent.pid)
	if err != nil {
		return err
	}
	took := time.Since(began)
	number(fmt.Sprintf("%d objects, nothing changes for %.0f s: agent and plugins", l.size.objects, took.Seconds()),
		"% of a core", 100*(after-before).Seconds()/took.Seconds(), liveIdleLimit)
	for _, p := range []struct {
		name string
		pid  int
	}{{"agent", agent.pid}, {"plugin", l.plugin}} {
		resident, err := residentOf(p.pid)
		if err != nil {
			return err
		}
		number("the same: memory of the "+p.name, "MiB", resident/(1<<20))
	}
	return nil
}
