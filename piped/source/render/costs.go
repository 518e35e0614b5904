// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// call holds the arguments of a call and what was measured of them.
type call struct {
	arguments []reflect.Value
	sizes     []int
	size      int // of all together
	depth     int // of the deepest
}

func (c *call) add(argument reflect.Value, size, depth int) {
	for argument.Kind() == reflect.Interface && !argument.IsNil() {
		argument = argument.Elem()
	}
	c.arguments = append(c.arguments, argument)
	c.sizes = append(c.sizes, size)
	c.size += size
	c.depth = max(c.depth, depth)
}

// number is an argument as a count, 0 when there is none.
func (c *call) number(i int) float64 {
	if i >= len(c.arguments) {
		return 0
	}
	switch a := c.arguments[i]; {
	case a.CanInt():
		return float64(a.Int())
	case a.CanUint():
		return float64(a.Uint())
	case a.CanFloat():
		return a.Float()
	default:
		return 0
	}
}

func (c *call) length(i int) float64 {
	if i >= len(c.sizes) {
		return 0
	}
	return float64(c.sizes[i])
}

func (c *call) text(i int) string {
	if i < len(c.arguments) && c.arguments[i].Kind() == reflect.String {
		return c.arguments[i].String()
	}
	return ""
}

// slowCall is charged for functions that compute for a while whatever they get.
const slowCall = 8 << 20

// maxExpression bounds regular expressions, in bytes.
const maxExpression = 1000

// costs are the functions that may take more, or give back more, than their arguments together: what is
// charged before they are called. Every number and length counts as if nothing of it was saved.
var costs = map[string]func(*call) float64{
	"repeat":       func(c *call) float64 { return max(0, c.number(0)) * c.length(1) },
	"indent":       func(c *call) float64 { return max(0, c.number(0)) * (c.length(1) + 1) },
	"nindent":      func(c *call) float64 { return max(0, c.number(0)) * (c.length(1) + 1) },
	"replace":      func(c *call) float64 { return (c.length(2)/max(1, c.length(0)) + 1) * (c.length(1) + 1) },
	"join":         func(c *call) float64 { return (c.length(1)/valueCost + 1) * (c.length(0) + 1) },
	"wrap":         func(c *call) float64 { return 4 * c.length(1) },
	"wrapWith":     func(c *call) float64 { return c.length(2) * (c.length(1) + 4) },
	"until":        func(c *call) float64 { return math.Abs(c.number(0)) * valueCost },
	"untilStep":    func(c *call) float64 { return steps(c.number(0), c.number(1), c.number(2)) },
	"seq":          sequence,
	"randAlpha":    random,
	"randAlphaNum": random,
	"randAscii":    random,
	"randNumeric":  random,
	"randBytes":    random,
	"bcrypt":       func(*call) float64 { return slowCall },
	"htpasswd":     func(*call) float64 { return slowCall },
	"mulf":         func(c *call) float64 { n := float64(len(c.arguments)); return n * n * valueCost },
	"uniq":         func(c *call) float64 { return c.length(0) * c.length(0) / valueCost },
	"mustUniq":     func(c *call) float64 { return c.length(0) * c.length(0) / valueCost },
	"without":      func(c *call) float64 { return c.length(0) * (float64(c.size) - c.length(0)) / valueCost },
	"mustWithout":  func(c *call) float64 { return c.length(0) * (float64(c.size) - c.length(0)) / valueCost },
	"chunk":        chunks,
	"mustChunk":    chunks,
	"printf":       formatted,

	"toPrettyJson":     pretty,
	"mustToPrettyJson": pretty,

	"regexMatch": expression, "mustRegexMatch": expression,
	"regexFind": expression, "mustRegexFind": expression,
	"regexFindAll": expression, "mustRegexFindAll": expression,
	"regexSplit": expression, "mustRegexSplit": expression,
	"regexReplaceAll": replacing, "mustRegexReplaceAll": replacing,
	"regexReplaceAllLiteral": replacing, "mustRegexReplaceAllLiteral": replacing,
}

func random(c *call) float64 { return max(0, c.number(0)) * valueCost }

func steps(from, to, step float64) float64 {
	return math.Abs(to-from) / max(1, math.Abs(step)) * valueCost
}

// sequence has the arguments of the program seq: last; first, last; first, step, last.
func sequence(c *call) float64 {
	switch len(c.arguments) {
	case 1:
		return 2 * steps(1, c.number(0), 1)
	case 2:
		return 2 * steps(c.number(0), c.number(1), 1)
	default:
		return 2 * steps(c.number(0), c.number(2), c.number(1))
	}
}

func chunks(c *call) float64 {
	if c.number(0) < 1 {
		panic(fmt.Errorf("the size of a chunk is %v, want at least 1", c.number(0)))
	}
	return 2 * c.length(1)
}

// pretty has every value indented by its depth.
func pretty(c *call) float64 { return 2 * c.length(0) * float64(c.depth+1) }

func expression(c *call) float64 {
	if len(c.text(0)) > maxExpression {
		panic(
			fmt.Errorf(
				"the regular expression has %d bytes, more than the %d that it may have", len(c.text(0)), maxExpression,
			),
		)
	}
	return (c.length(0) + 1) * (c.length(1) + 1) / 8
}

// replacing counts what each match may be replaced by, which may repeat parts of the match.
func replacing(c *call) float64 { return expression(c) + 2*(c.length(1)+1)*(c.length(2)+1) }

var (
	directive = regexp.MustCompile(`%[^%a-zA-Z]*`)
	number    = regexp.MustCompile(`\d+`)
)

// formatted counts the widths of a format, and every argument as often as the format may use it.
func formatted(c *call) float64 {
	verbs, widths := 0.0, 0.0
	for _, verb := range directive.FindAllString(c.text(0), -1) {
		verbs++
		if strings.Contains(verb, "*") {
			panic(fmt.Errorf("the format takes a width from the arguments: write it into the format"))
		}
		for _, digits := range number.FindAllString(verb, -1) {
			n, err := strconv.ParseFloat(digits, 64)
			must(err)
			widths += n
		}
	}
	return widths + verbs*(float64(c.size)-c.length(0))
}
