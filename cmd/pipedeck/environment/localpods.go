// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	imageref "github.com/pipedeck/pipedeck/devenv/image"
)

const (
	localPodsFlag = "local-pods"
	// localImageExample is the next step of a user whose --local-image cannot be read.
	localImageExample = "for example --local-image registry.example/shop:v2=./shop,port"
	// anyProgram in may-run stands for all programs.
	anyProgram = "*"
)

// runsLocally reports whether a cluster may run images as processes of this machine.
func (f *clusterFlags) runsLocally() (bool, error) {
	parsed, err := f.parse()
	return f.localPods && slices.ContainsFunc(parsed, func(n namedKind) bool {
		return n.kind == cluster.Embedded || n.kind == clusterAuto
	}), err
}

// mapped returns the programs of --local-image, each checked to be there; each problem is the user's.
func (f *clusterFlags) mapped() (images []embedded.LocalImage, err error) {
	for _, given := range f.localImages {
		image, err := parseLocalImage(given)
		if err == nil && !image.IsBuilt() {
			image.SHA256, err = digestOf(image.Path)
		}
		if err == nil {
			err = contradiction(images, image)
		}
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("--local-image %s: %w", given, err), localImageExample)
		}
		images = append(images, image)
	}
	return images, nil
}

// contradiction is the error of an image that was given before in another way.
func contradiction(before []embedded.LocalImage, image embedded.LocalImage) error {
	for _, other := range before {
		if keyOf(other.Image) == keyOf(image.Image) && !reflect.DeepEqual(other, image) {
			return fmt.Errorf("the image %s is given twice, with different programs or options", image.Image)
		}
	}
	return nil
}

// everyTag stands for the tag of a reference without one, which is for all tags.
const everyTag = "every-tag"

// keyOf is the same for two references of one image.
func keyOf(image string) string {
	reference, err := name.ParseReference(image, name.WithDefaultTag(everyTag))
	if err != nil {
		return image // parseLocalImage has refused it
	}
	return reference.Name()
}

// parseLocalImage reads IMAGE=PROGRAM[,port][,may-run=PROGRAM]. The program of an image that is built here is not
// given: IMAGE=,may-run=PROGRAM.
func parseLocalImage(given string) (embedded.LocalImage, error) {
	reference, rest, found := strings.Cut(given, "=")
	if !found {
		return embedded.LocalImage{}, errors.New("want IMAGE=PROGRAM")
	}
	parsed, err := name.ParseReference(reference)
	if err != nil {
		return embedded.LocalImage{}, fmt.Errorf("the image %q: %w", reference, err)
	}
	program, options, _ := strings.Cut(rest, ",")
	image := embedded.LocalImage{Image: reference}
	switch built := parsed.Context().RegistryStr() == imageref.Domain; {
	case built && program != "":
		return image, fmt.Errorf("pipedeck builds the program of images of %s; leave it out, as in %s=,may-run=/bin/sh",
			imageref.Domain, reference)
	case !built && program == "":
		return image, errors.New("it names no program")
	case !built:
		image.Path = absolute("", program)
	}
	for option := range strings.SplitSeq(options, ",") {
		other, mayRun := strings.CutPrefix(option, "may-run=")
		switch {
		case option == "":
		case option == "port":
			image.HonoursPort = true
		case mayRun && other == anyProgram:
			image.MayRun = append(image.MayRun, anyProgram)
		case mayRun && filepath.IsAbs(other):
			image.MayRun = append(image.MayRun, filepath.Clean(other))
		case mayRun:
			return image, fmt.Errorf("may-run=%s: want an absolute path, or * for any program", other)
		default:
			return image, fmt.Errorf("unknown option %q: want port or may-run=PROGRAM", option)
		}
	}
	return image, nil
}

// digestOf returns the SHA-256 of a program, as hexadecimal digits.
func digestOf(program string) (string, error) {
	file, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%s is not an executable file", program)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s: %w", program, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// absoluteLocalImage is absolute for IMAGE=PROGRAM with options.
func absoluteLocalImage(dir, value string) string {
	image, rest, _ := strings.Cut(value, "=")
	program, options, more := strings.Cut(rest, ",")
	if program != "" { // else it is built
		program = absolute(dir, program)
	}
	value = image + "=" + program
	if more {
		value += "," + options
	}
	return value
}
