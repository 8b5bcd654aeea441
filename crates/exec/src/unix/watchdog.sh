# Outlives omp by a moment: when the pipe on standard input closes, everything omp has started is killed.
# $1 is the mark that all of omp's children carry, $2 a pattern for the tag of those that are contained (Linux). Lines read:
#   +GROUP, -GROUP  a group runs, has ended
#   /FOLDER         removed at the end with all it holds
#   =/FOLDER        removed at the end if it is empty
#   ~/FOLDER        what was said last of it holds no more
trap '' HUP INT QUIT TERM PIPE
groups=' '
started=0
newline='
'
folders=$newline
while IFS= read -r line; do
    case $line in
        +*) groups="$groups${line#+} "; started=1 ;;
        -*) case $groups in *" ${line#-} "*) groups="${groups%%" ${line#-} "*} ${groups#*" ${line#-} "}" ;; esac ;;
        /*|=/*) folders="$folders$line$newline" ;;
        '~'*)
            for line in "${line#?}" "=${line#?}"; do
                case $folders in *"$newline$line$newline"*)
                    rest=${folders#*"$newline$line$newline"}
                    folders=${folders%%"$newline$line$newline"*}$newline$rest ;;
                esac
            done ;;
    esac
done

# Prints "pid parent group" of every living process.
processes() {
    if [ -r /proc/self/stat ]; then
        for stat in /proc/[0-9]*/stat; do
            { IFS= read -r line < "$stat"; } 2>/dev/null || continue
            pid=${line%% *}
            line=${line##*) }
            state=${line%% *}; line=${line#* }
            parent=${line%% *}; line=${line#* }
            [ "$state" = Z ] || echo "$pid $parent ${line%% *}"
        done
    else
        ps -axo pid=,ppid=,pgid=
    fi
}

marked() {
    if [ -r /proc/self/stat ]; then
        for file in $(grep -lsaF "OMP_SPAWN=$1-" /proc/[0-9]*/environ 2>/dev/null); do
            file=${file#/proc/}
            echo "${file%/environ}"
        done
    else
        ps -axEww -o pid=,command= 2>/dev/null | grep -F "OMP_SPAWN=$1-" | grep -v grep |
            while read -r pid rest; do echo "$pid"; done
    fi
}

# Those who have given up mark, group, session and parent.
tagged() {
    [ -n "$1" ] && [ -r /proc/self/projid_map ] || return
    for file in $(grep -lsE "$1" /proc/[0-9]*/projid_map 2>/dev/null); do
        file=${file#/proc/}
        echo "${file%/projid_map}"
    done
}

# What was forked while the list was made shows up in the next round, and what becomes a program has no mark for a moment.
round=0
quiet=0
[ "$started" = 1 ] || round=50
while [ "$round" -lt 50 ]; do
    doomed=" $({ marked "$1"; tagged "$2"; } | tr '\n' ' ') "
    # To read the table takes long, and without one of them nobody in it is meant.
    case $groups$doomed in *[0-9]*) table=$(processes); grown=1 ;; *) grown=0 ;; esac
    while [ "$grown" = 1 ]; do
        grown=0
        while read -r pid parent group; do
            [ -n "$pid" ] || continue
            case $doomed in *" $pid "*) continue ;; esac
            case "$groups" in *" $group "*) doomed="$doomed$pid "; grown=1; continue ;; esac
            case $doomed in *" $parent "*) doomed="$doomed$pid "; grown=1 ;; esac
        done <<TABLE
$table
TABLE
    done
    # Stopped first: a shell takes up its next command as soon as the one it waits for is dead.
    for pid in $doomed; do
        kill -STOP "$pid" 2>/dev/null
    done
    found=0
    for pid in $doomed; do
        kill -KILL "$pid" 2>/dev/null && found=1
    done
    [ "$found" = 1 ] && quiet=0 || quiet=$((quiet + 1))
    [ "$quiet" -lt 2 ] || break
    round=$((round + 1))
    sleep 0.02 2>/dev/null
done

# What is to be empty comes last, as the others may lie in it.
for kind in / =; do
    while IFS= read -r folder; do
        case $kind$folder in
            //*) rm -rf -- "$folder" ;;
            ==*) rmdir -- "${folder#=}" 2>/dev/null ;;
        esac
    done <<FOLDERS
$folders
FOLDERS
done
exit 0
