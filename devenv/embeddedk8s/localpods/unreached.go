// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
)

// Reasons why a port of a pod does not answer.
const (
	ReasonPortInUse    = "PortInUse"
	ReasonNotListening = "NotListening"
)

// unreached is the error of a port of a pod at which no process of the pod listens.
type unreached struct {
	// taken is set when another program listens there.
	taken bool
	text  string
}

func (u *unreached) Error() string { return u.text }

func (u *unreached) reason() string {
	if u.taken {
		return ReasonPortInUse
	}
	return ReasonNotListening
}

// why says why the container is not reached at the number that was expected of a port. Only late does it look for the
// places at which it listens instead: before, they may change.
func (m *member) why(view *containers.View, port int32, number int, late bool) *unreached {
	at := strconv.Itoa(number)
	if number == m.assigned {
		at += " (PORT)"
	}
	if holder, taken := view.Other(number); taken {
		return &unreached{taken: true, text: fmt.Sprintf(
			"port %s is in use by %s, not by this container; stop that program, or use another port", at, holder)}
	}
	text := fmt.Sprintf("container %s does not listen on port %s", m.name, at)
	if number == m.assigned && int(port) != number {
		text += fmt.Sprintf(", which stands for its port %d", port)
	}
	if late {
		text += "; " + listensOn(view.OwnPorts())
	}
	return &unreached{text: text}
}

func listensOn(ports []int) string {
	if len(ports) == 0 {
		return "it listens on no port"
	}
	var numbers []string
	for _, port := range ports {
		numbers = append(numbers, strconv.Itoa(port))
	}
	return "it listens on " + strings.Join(numbers, ", ")
}
