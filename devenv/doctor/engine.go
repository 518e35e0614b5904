// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/auto"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
)

// oldest are the engines' versions that kind is known to work with.
var oldest = map[string]version{"docker": {20, 10}, "podman": {3, 0}}

// lastWithCgroup1 is the last Kubernetes whose kubelet starts on cgroup v1 without being configured to.
var lastWithCgroup1 = version{1, 34}

// oldNodeImage is an image of kind's that starts on cgroup v1.
const oldNodeImage = "kindest/node:v1.34.0"

func (d *Doctor) containerEngine(ctx context.Context) Check {
	found, err := d.Engine(ctx)
	var silent *engine.NotAnsweringError
	switch {
	case err == nil:
		return checkVersion(found)
	case errors.Is(err, engine.ErrNone) && !d.asks(cluster.InDocker):
		return ok("none is installed; auto uses the embedded Kubernetes")
	case errors.Is(err, engine.ErrNone):
		return Check{State: Fail, Found: "none is installed", Why: "kind runs its nodes as containers",
			Fix: installEngine}
	case errors.As(err, &silent):
		c := Check{State: Fail, Found: err.Error(), Why: "kind runs its nodes as containers", Fix: startEngine(silent)}
		if !d.asks(cluster.InDocker) {
			c.State, c.Why = Warn, "auto uses the embedded Kubernetes, where no container runs"
		}
		return c
	default:
		return Check{State: Warn, Found: err.Error(), Why: "kind runs its nodes as containers", Fix: "pipedeck doctor"}
	}
}

func checkVersion(e *engine.Engine) Check {
	least, known := oldest[e.Name]
	if is, readable := parseVersion(e.Version); known && readable && is.before(least) {
		return Check{
			State: Warn, Found: e.String(), Why: fmt.Sprintf("kind is known to work from %s on", least),
			Fix: "install a newer " + e.Name + ", or use --cluster embedded",
		}
	}
	return ok("%s", e)
}

func startEngine(silent *engine.NotAnsweringError) string {
	said := strings.ToLower(silent.Error())
	switch {
	case strings.Contains(said, "permission denied"):
		return `sudo usermod -aG docker "$USER" && newgrp docker`
	case silent.Engine == "docker":
		return startDocker
	case silent.Engine == "podman":
		return startPodman
	default:
		return "see " + silent.Engine + " info"
	}
}

// cgroups compares the engine's control groups with what the node image needs.
func (d *Doctor) cgroups(ctx context.Context) Check {
	e, err := d.Engine(ctx)
	switch {
	case err != nil:
		return Check{}
	case e.CgroupVersion == 0:
		return ok("%s does not report their version", e.Name)
	case e.CgroupVersion == 2:
		return ok("version 2")
	}
	image := d.NodeImage
	if image == "" {
		image = defaults.Image
	}
	is, readable := imageVersion(image)
	if readable && !lastWithCgroup1.before(is) {
		return ok("version 1, which Kubernetes %s takes", is)
	}
	c := Check{
		State: Warn, Found: "version 1",
		Why: fmt.Sprintf("the kubelet of Kubernetes %s and later refuses it unless the node image adapts",
			version{lastWithCgroup1.major, lastWithCgroup1.minor + 1}),
		Fix: "pipedeck up --node-image " + oldNodeImage +
			", or --cluster embedded; or boot with systemd.unified_cgroup_hierarchy=1",
	}
	// kind's own image does not adapt; a configuration can make it adapt.
	if d.NodeImage == "" && d.KindConfig == "" && d.asks(cluster.InDocker) {
		c.State, c.Why = Fail, fmt.Sprintf("the kubelet in kind's node image, Kubernetes %s, refuses it", is)
	}
	return c
}

// kindAsked is the number of clusters that kind is to make.
func (d *Doctor) kindAsked() int {
	n := 0
	for _, k := range d.Clusters {
		if k == cluster.InDocker || k == auto.Kind {
			n++
		}
	}
	return n
}

// version is the part of a version that requirements speak of.
type version struct{ major, minor int }

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

func (v version) before(w version) bool {
	return v.major < w.major || v.major == w.major && v.minor < w.minor
}

var versionRule = regexp.MustCompile(`(\d{1,4})\.(\d{1,4})`)

// parseVersion reads the first version in a text.
func parseVersion(text string) (version, bool) {
	match := versionRule.FindStringSubmatch(text)
	if match == nil {
		return version{}, false
	}
	major, majorErr := strconv.Atoi(match[1])
	minor, minorErr := strconv.Atoi(match[2])
	return version{major, minor}, majorErr == nil && minorErr == nil
}

// imageVersion reads the tag of a node image; a registry's address may hold digits, too.
func imageVersion(image string) (version, bool) {
	image, _, _ = strings.Cut(image, "@")
	colon := strings.LastIndex(image, ":")
	if colon < strings.LastIndex(image, "/") || colon < 0 {
		return version{}, false
	}
	return parseVersion(image[colon:])
}
